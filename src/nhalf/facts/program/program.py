"""Everything known about a traced program; each fact is computed once, on first access.

Findings, panels, tables, exporters and predictions receive a `Program`, as those of measured runs
receive `Facts`. What only some of them need has its own file in this folder: functions of `Program`
that are decorated with `fact`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from nhalf.facts.fact import fact
from nhalf.measure.traced import tables as trace_tables
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import DISK_FULL, TIMELINE_CUT
from nhalf.mpi.identify import library_title


@dataclass(frozen=True)
class Program:
    """A trace: its description, and its tables with the columns of measure/traced/tables.py.

    `as_traced` is the run that was traced, where this is the one without what others took of it.
    """

    path: Path
    trace: trace_tables.Trace
    calls: pl.DataFrame
    bins: pl.DataFrame
    timeline: pl.DataFrame
    communicators: pl.DataFrame
    sites: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=trace_tables.SITES))
    call_sites: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=trace_tables.CALL_SITES)
    )
    off_processor: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema=trace_tables.OFF_PROCESSOR)
    )
    as_traced: Program | None = None

    @classmethod
    def open(cls, path: Path) -> Program:
        """A trace from its folder; raises InputError if it is not a trace or is damaged."""
        folder = trace_tables.open_trace(path)
        names = ("calls", "bins", "timeline", "communicators", *trace_tables.MAY_LACK[1:])
        tables: dict[str, Any] = {name: folder.rows(name) for name in names}
        return cls(folder.path, folder.trace, **tables)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def library(self) -> str:
        """The MPI library's own version string, on one line, without control characters."""
        line = " ".join(self.trace.library.split())
        return "".join(filter(str.isprintable, line)).strip()

    @property
    def library_title(self) -> str:
        """The library by its usual name and version: 'Open MPI 4.1.4'."""
        return library_title(self.library)

    @property
    def command(self) -> str:
        """The command as typed, except for the launcher's folder; '' if unknown."""
        words = self.trace.command
        return " ".join([Path(words[0]).name, *words[1:]]) if words else ""

    @property
    def is_timed(self) -> bool:
        """Whether its calls have times: those of a schedule do not."""
        return self.trace.detail != trace_tables.SCHEDULE

    @property
    @fact
    def ranks(self) -> int:
        """Ranks of MPI_COMM_WORLD, including those without collected data."""
        rank_counts = [0, *(record.rank + 1 for record in self.trace.ranks)]
        highest_rank = self.calls.select(pl.max_horizontal(pl.col("rank", "partner").max())).item()
        return max(*rank_counts, 0 if highest_rank is None else highest_rank + 1)

    @property
    @fact
    def hosts(self) -> tuple[str, ...]:
        """The host of each rank; '' if unknown."""
        host_by_rank = {record.rank: record.host for record in self.trace.ranks}
        return tuple(host_by_rank.get(rank, "") for rank in range(self.ranks))

    @property
    @fact
    def elapsed_s(self) -> float:
        """From the end of the first rank's MPI_Init to the last rank's MPI_Finalize."""
        if not self.trace.ranks:
            return max(0.0, self.trace.end_s - self.trace.start_s)
        ends = (record.end_s for record in self.trace.ranks)
        return max(0.0, max(ends) - min(record.begin_s for record in self.trace.ranks))

    @property
    @fact
    def sent(self) -> pl.DataFrame:
        """The rows of messages between ranks of MPI_COMM_WORLD, including one-sided puts.

        A rank's messages to itself are included, those to MPI_PROC_NULL are not.
        """
        return self.messages.filter(pl.col("partner") >= 0)

    @property
    @fact
    def messages(self) -> pl.DataFrame:
        """The rows of all messages sent, including those to unknown partners."""
        is_put = pl.col("call").str.contains("(?i)put|accumulate")
        is_sent = (pl.col("kind") == "sent") | ((pl.col("kind") == "one-sided") & is_put)
        return self.calls.filter(is_sent & (pl.col("partner") != trace_tables.PROC_NULL))


@fact
def has_whole_timeline(program: Program) -> bool:
    """Whether there is a timeline that nothing cut off: what is replayed is the whole program."""
    is_cut = any("timeline" in note or note == LOST[DISK_FULL] for note in program.trace.notes)
    return not program.timeline.is_empty() and not is_cut


@fact
def is_counted(program: Program) -> bool:
    """Whether every call is counted; a timeline that is cut off lacks none of the counts."""
    trace = program.trace
    is_cut = trace.notes == [LOST[TIMELINE_CUT]]
    return trace.complete or (is_cut and all(record.finished for record in trace.ranks))
