"""Programs of tests are compiled again when something of them is different, and only then."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import compiled as module
from tests.compiled import compiled
from tests.conftest import write_script

COMPILER = """echo "$@" >> "$0.calls"
while [ $# -gt 1 ]; do [ "$1" = -o ] && cp "$SOURCE" "$2"; shift; done"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies the source, and notes each of its calls."""
    monkeypatch.setattr(module, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(module, "compiler_variables", lambda _: {})
    return write_script(tmp_path / "mpicxx", COMPILER)


def test_the_same_is_compiled_once_and_what_is_different_again(
    tmp_path: Path, compiler: Path
) -> None:
    source = tmp_path / "ring.cpp"
    maker: Any = SimpleNamespace(environment={"SOURCE": str(source)}, prefix=tmp_path)

    def make(name: str, *flags: str) -> str:
        words = [str(compiler), *flags]
        return compiled(words, source, tmp_path / name, maker).read_text()

    source.write_text("one")
    assert [make("a"), make("b"), make("a")] == ["one"] * 3
    source.write_text("two")
    assert [make("c"), make("d", "-g")] == ["two"] * 2
    (tmp_path / "types.hpp").write_text("")
    make("e")
    (tmp_path / "mpicxx.calls").rename(tmp_path / "calls")
    assert len((tmp_path / "calls").read_text().splitlines()) == 4
    make("f")
    assert not (tmp_path / "mpicxx.calls").exists()
