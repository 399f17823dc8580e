"""Where a page may be written: none takes the place of a run's own page, or of its data."""

from __future__ import annotations

from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.measure.traced.tables import DESCRIPTION as TRACE
from nhalf.store.run import DESCRIPTION as RUN

OWN_PAGE = "report.html"
"""The page of a run or of a trace, in its folder."""


def check_place(path: Path, own: Path | None = None) -> None:
    """Raises InputError if a page at `path` would replace a file of a run or of a trace.

    `own` is the folder of the run that the whole page is about, if there is one.
    """
    file = path.resolve()
    folder = file.parent
    if not any((folder / name).is_file() for name in (RUN, TRACE)):
        return
    if file.name == OWN_PAGE and (own is None or own.resolve() != folder):
        raise InputError(f"{path} is the page of the run {folder.name}", "choose another name")
    if file.suffix != ".html" and file.exists():
        raise InputError(f"{path} is a file of the run {folder.name}", "choose another name")
