# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML file, or pictures, from the same panels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nhalf.store.run import Run


def write_report(runs: list[Run], out: Path) -> Path:
    """Write the report of `runs` as one self-contained HTML file and return its path.

    Raises InputError when the runs hold no measurement, MissingError when the file cannot be
    written; an existing file is replaced only by a whole new one.
    """
    from nhalf.base.files import write_text
    from nhalf.facts.facts import Facts
    from nhalf.present.report.page import page

    return write_text(out, page(Facts.of(runs)))
