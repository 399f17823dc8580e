"""Where `tools/bench.py` writes what it measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import BENCHMARKS
from benchmarks import sections

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"
TEXT = "# Title\n\nNote.\n\n| a |\n|---:|\n| 1 |\n\n## Part\n\nMore.\n"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_kept_figures_have_a_section(name: str) -> None:
    if name in BENCHMARKS:
        assert BENCHMARKS[name][1] in sections.read(FOLDER, name)
    pages = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")]
    assert sum(f"]({name}.json)" in page for page in pages) == 1


def test_a_section_has_its_question_and_its_figures() -> None:
    text = sections.section("x", "Why?", TEXT)
    assert text.startswith("## Title {#x}\n\n*Why?*\n\nNote.\n\n| a |\n")
    assert text.endswith("\n### Part\n\nMore.\n\n[All figures](x.json).\n")


@pytest.mark.parametrize(("rows", "is_kept"), [(30, True), (31, False)])
def test_a_long_table_is_left_to_the_figures(rows: int, is_kept: bool) -> None:
    text = sections.section("x", "Why?", TEXT.replace("| 1 |\n", "| 1 |\n" * rows))
    assert ("| 1 |" in text) == is_kept
    assert "Note." in text
    assert "### Part" in text


def test_a_section_is_replaced_where_it_stands(tmp_path: Path) -> None:
    begin, end = sections.marks("x")
    page = tmp_path / "second.md"
    page.write_text(f"# Page\n\n{begin}\nbefore\n{end}\n\n## By hand\n", encoding="utf-8")
    assert sections.write(tmp_path, "x", "after\n") == page
    expected = f"# Page\n\n{begin}\nafter\n{end}\n\n## By hand\n"
    assert page.read_text(encoding="utf-8") == expected
    assert sections.read(tmp_path, "x") == "after\n"


def test_a_section_that_no_page_has_goes_to_the_first(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        sections.read(tmp_path, "x")
    assert sections.write(tmp_path, "x", "after\n") == tmp_path / sections.FIRST_PAGE
    assert sections.read(tmp_path, "x") == "after\n"
