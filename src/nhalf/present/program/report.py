"""The report of a traced program: its heading, and the captions of its charts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nhalf.base.numbers import grouped, percent
from nhalf.base.units import format_time
from nhalf.decide.program.share_in_mpi import share_in_mpi
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.present.program.verdict import program_verdict
from nhalf.present.report.caption import Caption, ReaderChoice, ReportSubject, Spec
from nhalf.present.wording import count

FOOTER = (
    "The calls of the program were counted while it ran. Times are those inside MPI calls; "
    "waiting is the whole time of waits, probes and barriers, and what any other call took beyond "
    "the shortest one with the same partner and size."
)


class TraceReport(ReportSubject[Program]):
    """The report of one traced program."""

    panels = "nhalf.present.program.panels"

    def heading(self) -> dict[str, Any]:
        """Command, size of the program, and how its calls were counted."""
        return {
            "title": self.data.command or self.data.name,
            "subtitle": _subtitle(self.data),
            "verdict": program_verdict(self.data),
            "sureness": _figures(self.data),
            "footer": FOOTER,
            "libraries": [],
        }

    def caption(
        self, spec: Spec, patterns: Collection[str], choice: ReaderChoice | None, option: str
    ) -> Caption:
        """Name the program and, of a choice, what is shown of it."""
        command = self.data.command or self.data.name
        shown = choice.in_words(option) if choice else ""
        return " · ".join(filter(None, (shown, command))), [_subtitle(self.data)]


def _subtitle(program: Program) -> str:
    hosts = len(set(program.hosts))
    parts = [
        program.library_title,
        count(program.ranks, "rank"),
        count(hosts, "host") if hosts > 1 else "".join(set(program.hosts)),
        "" if program.trace.complete else "incomplete",
    ]
    return " · ".join(part for part in parts if part)


def _which_time(program: Program) -> str:
    """Which time it is: of the run as traced, or of that without others."""
    if program.as_traced is None:
        return "from MPI_Init to MPI_Finalize"
    return (
        "from MPI_Init to MPI_Finalize with a processor for each rank "
        f"({format_time(program.as_traced.elapsed_s)} as traced)"
    )


def _figures(program: Program) -> list[tuple[str, str]]:
    """The box of numbers: how long, how many, how much of it in MPI."""
    in_mpi = share_in_mpi(program)
    figures = [
        (format_time(program.elapsed_s), _which_time(program)),
        (grouped(int(program.messages["count"].sum())), "messages between ranks"),
    ]
    if in_mpi is not None:
        figures.append((percent(in_mpi.mean_share), "of the run in MPI"))
    shape = communication_shape(program).name or "irregular"
    return [*figures, (shape, "pattern of point-to-point messages")]
