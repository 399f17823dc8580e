"""The rule of names of files and modules: what is missing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import style_paths


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("as in src/nhalf/store/journal.py and store/journal.py.", []),
        ("as in src/nhalf/store/gone.py, runs/gone.txt and (gone.hpp)",
         ["gone.hpp", "src/nhalf/store/gone.py"]),
        ("`tests/nhalf/store/test_journal.py`, src/nhalf/*/x.py, NAME.py, runs/gone.toml", []),
        ("#include \"gone.hpp\"", []),
    ],
)  # fmt: skip
def test_paths_are_told_from_other_words(tmp_path: Path, text: str, missing: list[str]) -> None:
    path = tmp_path / "page.md"
    path.write_text(text)
    assert style_paths.missing_files(path) == missing


def test_modules_are_told_from_other_words(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("nhalf.store, nhalf.store.journal.Journal, nhalf.store.gone, nhalf.gone.x")
    assert style_paths.missing_modules(path) == ["nhalf.gone.x", "nhalf.store.gone"]


def test_the_program_fails_on_a_name_that_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("as in src/nhalf/store/gone.py")
    monkeypatch.setattr(style_paths, "ROOT", tmp_path)
    monkeypatch.setattr(style_paths, "named_files", frozenset[str])
    monkeypatch.setattr(style_paths, "CHECKED", ("README.md",))
    assert style_paths.main() == 1
    assert capsys.readouterr().out == "README.md: path: src/nhalf/store/gone.py: not there\n"
