"""Findings on the trace itself: whether it is complete and undisturbed."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.base.numbers import percent
from nhalf.decide.program.basis import traced_run
from nhalf.facts.program.disturbance import most_taken_share, shared_processors
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding
from nhalf.present.program.others import others_lines
from nhalf.present.program.sharing import REMEDY, sharing_text


class Incomplete(Finder[Program]):
    """An incomplete trace is reported first."""

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


class Others(Finder[Program]):
    """What follows is of another run than the one that was seen, or of a disturbed one."""

    def find(self, program: Program) -> Iterator[Finding]:
        lines = list(others_lines(program))
        share = most_taken_share(traced_run(program))
        if lines:
            yield Finding(
                " ".join(lines),
                importance=99,
                kind="others",
                value=share,
                label="Off its core",
                figure=percent(share),
            )


class SharedProcessorsFinder(Finder[Program]):
    """All times are then those of ranks that wait for their turn."""

    def find(self, program: Program) -> Iterator[Finding]:
        shared = shared_processors(program)
        if shared:
            yield Finding(
                sharing_text(shared),
                importance=98,
                kind="shared-processors",
                remedy=REMEDY,
                value=shared[0].threads_each,
                label="Threads on a processor" if shared[0].has_threads else "Ranks on a processor",
            )
