# SPDX-License-Identifier: Apache-2.0
"""Panels of a traced program: one file, one picture or table of its report.

To add one, put a file into this folder: `NAME.py` with one class that derives from `ProgramPanel`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import altair as alt

from nhalf.facts.program.program import Program
from nhalf.present.panels import Table

ENTRY_POINTS = "nhalf.program_panels"


class ProgramPanel(ABC):
    """One picture or table, shown in `order`, hidden where the trace has nothing for it."""

    title: ClassVar[str]
    how_to_read: ClassVar[str]
    """One sentence for a reader who is new to the field."""
    order: ClassVar[int]

    @abstractmethod
    def render(self, program: Program) -> alt.TopLevelMixin | Table | None:
        """The chart or table; None when the trace holds nothing for it."""
