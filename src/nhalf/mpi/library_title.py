"""The usual name and version of a library in what it says of itself."""

from __future__ import annotations

import re

from nhalf.mpi.vendors import vendors

TITLE_MAX = 60
_VERSION = re.compile(r"\b(?:version\b\D{0,3})?\s*v?(\d+\.\d[\w.]*)", re.IGNORECASE)


def library_title(text: str) -> str:
    """'Open MPI 4.1.4' of a text of MPI_Get_library_version; one of a library that is not known is
    shortened. '' if there is none.
    """
    line = text.replace("(R)", "").strip()
    letters = line.casefold()
    titles = [vendor.title for vendor in vendors().values() if vendor.title.casefold() in letters]
    if not titles:
        first = line.partition(",")[0]
        return first if len(first) <= TITLE_MAX else f"{first[: TITLE_MAX - 1]}…"
    title = max(titles, key=len)
    match = _VERSION.search(line, letters.index(title.casefold()) + len(title))
    return f"{title} {match[1].rstrip('.')}" if match else title
