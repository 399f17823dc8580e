# SPDX-License-Identifier: Apache-2.0
"""An incomplete trace is reported first."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding


class Incomplete(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        trace = program.trace
        if trace.complete:
            return
        cut = [str(record.rank) for record in trace.ranks if not record.finished]
        unfinished = f"Rank{'s' if len(cut) > 1 else ''} {few(cut, 6)} did not reach MPI_Finalize. "
        details = f"{unfinished if cut else ''}{' '.join(trace.notes)}"
        yield Finding(
            f"The trace is incomplete: it ends where it was cut. {details}".strip(),
            importance=100,
            kind="incomplete",
            label="Incomplete",
            figure=f"{len(cut)} of {program.ranks}" if cut else "",
        )
