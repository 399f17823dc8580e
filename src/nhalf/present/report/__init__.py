"""The report: one HTML file, or pictures, from the same panels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.program import Program


def write_report(data: Facts | Program, out: Path) -> Path:
    """Write the report on runs or a traced program as one HTML file and return its path.

    Raises MissingError if the file cannot be written; an existing file is replaced only by a
    whole new one.
    """
    from nhalf.base.files import write_text
    from nhalf.present.report.page import page

    return write_text(out, page(data))
