"""The report: one HTML file, or pictures, from the same panels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.program import Program

OWN_PAGE = "report.html"
"""The page of a run or of a trace, in its folder."""


def write_report(data: Facts | Program, out: Path) -> Path:
    """Write the report on runs or a traced program as one HTML file and return its path.

    Raises MissingError if the file cannot be written; an existing file is replaced only by a
    whole new one.
    """
    from nhalf.base.files import write_text
    from nhalf.present.report.page import page

    return write_text(out, page(data))


def check_place(path: Path, own: Path | None = None) -> None:
    """Raises InputError if a page at `path` would replace a file of a run or of a trace.

    `own` is the folder of the run that the whole page is about, if there is one.
    """
    from nhalf.measure.traced.tables import DESCRIPTION as TRACE
    from nhalf.store.run import DESCRIPTION as RUN

    file = path.resolve()
    folder = file.parent
    if not any((folder / name).is_file() for name in (RUN, TRACE)):
        return
    if file.name == OWN_PAGE and (own is None or own.resolve() != folder):
        raise InputError(f"{path} is the page of the run {folder.name}", "choose another name")
    if file.suffix != ".html" and file.exists():
        raise InputError(f"{path} is a file of the run {folder.name}", "choose another name")
