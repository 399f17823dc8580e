# SPDX-License-Identifier: Apache-2.0
"""What a traced program does with messages, in sentences: one file, one kind of finding.

To add one, put a file into this folder: `NAME.py` with one class that derives from
`ProgramFinder`. It then stands in `nhalf show`, in the report and in --json; no other file changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from nhalf.base.plugins import load
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finding

ENTRY_POINTS = "nhalf.program_findings"


class ProgramFinder(ABC):
    """Looks for one kind of thing worth saying about a traced program."""

    @abstractmethod
    def find(self, program: Program) -> Iterator[Finding]:
        """The findings of this kind; none where the trace holds nothing for it."""


def program_findings(program: Program) -> list[Finding]:
    """Everything worth saying about the program, the most important first."""
    found: list[Finding] = []
    for kind in load("nhalf.present.program.findings", ProgramFinder).values():
        found += kind().find(program)
    return sorted(found, key=lambda finding: -finding.importance)
