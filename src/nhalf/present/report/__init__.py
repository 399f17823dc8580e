# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML file, or pictures, from the same panels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts


def write_report(facts: Facts, out: Path) -> Path:
    """Write the report of some facts as one self-contained HTML file and return its path.

    Raises MissingError if the file cannot be written; an existing file is replaced only by a
    whole new one.
    """
    from nhalf.base.files import write_text
    from nhalf.present.report.page import page

    return write_text(out, page(facts))
