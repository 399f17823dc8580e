# SPDX-License-Identifier: Apache-2.0
"""Findings about a traced program's communication, in sentences: one file, one kind of finding.

To add one, put a file into this folder: `NAME.py` with one class that derives from
`ProgramFinder`. It then appears in `nhalf show`, the report and --json; no other file changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from nhalf.base.plugins import load
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finding

ENTRY_POINTS = "nhalf.program_findings"


class ProgramFinder(ABC):
    """Looks for one kind of finding about a traced program."""

    @abstractmethod
    def find(self, program: Program) -> Iterator[Finding]:
        """The findings of this kind; none if the trace has no basis for one."""


def program_findings(program: Program) -> list[Finding]:
    """All findings about the program, the most important first."""
    found: list[Finding] = []
    for kind in load("nhalf.present.program.findings", ProgramFinder).values():
        found += kind().find(program)
    return sorted(found, key=lambda finding: -finding.importance)
