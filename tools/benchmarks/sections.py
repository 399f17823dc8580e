"""Where results are written down: each benchmark has a section of a page between two marks."""

from __future__ import annotations

import re
from pathlib import Path

ROWS_MAX = 30
"""A longer table is left to the JSON file."""
FIRST_PAGE = "index.md"
"""Gets the sections that no page has yet."""
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_HEADING = re.compile(r"^#", re.MULTILINE)


def section(name: str, question: str, text: str) -> str:
    """A section from a text with a title, its question below the title; links to the figures."""
    title, rest = _HEADING.sub("##", _TABLE.sub(_shortened, text)).split("\n", 1)
    figures = f"[All figures]({name}.json)."
    return f"{title} {{#{name}}}\n\n*{question}*\n\n{rest.strip()}\n\n{figures}\n"


def _shortened(table: re.Match[str]) -> str:
    """A table, or nothing in the place of a long one."""
    return table[0] if table[0].count("\n") <= ROWS_MAX + 2 else ""


def write(folder: Path, name: str, text: str) -> Path:
    """Replace a section in the page that has it, else append it to the first page."""
    begin, end = marks(name)
    for path in sorted(folder.glob("*.md")):
        page = path.read_text("utf-8")
        if begin in page:
            before, rest = page.split(begin)
            path.write_text(f"{before}{begin}\n{text}{end}{rest.split(end)[1]}", "utf-8")
            return path
    path = folder / FIRST_PAGE
    page = path.read_text("utf-8") if path.is_file() else ""
    path.write_text(f"{page}\n{begin}\n{text}{end}\n", "utf-8")
    return path


def read(folder: Path, name: str) -> str:
    """A section as it stands in its page; raises LookupError if no page has it."""
    begin, end = marks(name)
    for path in sorted(folder.glob("*.md")):
        page = path.read_text("utf-8")
        if begin in page:
            return page.split(f"{begin}\n")[1].split(end)[0]
    raise LookupError(f"no page in {folder} has a section {name}")


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a section."""
    return f"<!-- benchmark: {name} -->", f"<!-- end of {name} -->"
