# SPDX-License-Identifier: Apache-2.0
"""Everything known about a traced program; each fact is computed once, on first access.

Findings, panels, tables, exporters and predictions receive a `Program`, as those of measured runs
receive `Facts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from nhalf.measure.traced.tables import PROC_NULL, Trace, open_trace

if TYPE_CHECKING:
    from nhalf.base.rows import Row
    from nhalf.facts.program.matrix import Matrix
    from nhalf.facts.program.placement import Placement
    from nhalf.facts.program.shape.naming import Shape


@dataclass(frozen=True)
class Program:
    """A trace: its description, and its tables with the columns of measure/traced/tables.py."""

    path: Path
    trace: Trace
    calls: pl.DataFrame
    bins: pl.DataFrame
    timeline: pl.DataFrame
    communicators: pl.DataFrame

    @classmethod
    def open(cls, path: Path) -> Program:
        """A trace from its folder; raises InputError if it is not a trace or is damaged."""
        folder = open_trace(path)
        names = ("calls", "bins", "timeline", "communicators")
        return cls(folder.path, folder.trace, *(folder.rows(name) for name in names))

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def library(self) -> str:
        """The MPI library's own version string, on one line."""
        return " ".join(self.trace.library.split())

    @property
    def command(self) -> str:
        """The command as typed, except for the launcher's folder; '' if unknown."""
        words = self.trace.command
        return " ".join([Path(words[0]).name, *words[1:]]) if words else ""

    @cached_property
    def ranks(self) -> int:
        """Ranks of MPI_COMM_WORLD, including those without collected data."""
        rank_counts = [0, *(record.rank + 1 for record in self.trace.ranks)]
        highest_rank = self.calls.select(pl.max_horizontal(pl.col("rank", "partner").max())).item()
        return max(*rank_counts, 0 if highest_rank is None else highest_rank + 1)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The host of each rank; '' if unknown."""
        host_by_rank = {record.rank: record.host for record in self.trace.ranks}
        return tuple(host_by_rank.get(rank, "") for rank in range(self.ranks))

    @cached_property
    def elapsed_s(self) -> float:
        """From the end of the first rank's MPI_Init to the last rank's MPI_Finalize."""
        if not self.trace.ranks:
            return max(0.0, self.trace.end_s - self.trace.start_s)
        ends = (record.end_s for record in self.trace.ranks)
        return max(0.0, max(ends) - min(record.begin_s for record in self.trace.ranks))

    @cached_property
    def sent(self) -> pl.DataFrame:
        """The rows of messages between ranks of MPI_COMM_WORLD, including one-sided puts.

        A rank's messages to itself are included, those to MPI_PROC_NULL are not.
        """
        return self.messages.filter(pl.col("partner") >= 0)

    @cached_property
    def messages(self) -> pl.DataFrame:
        """The rows of all messages sent, including those to unknown partners."""
        is_put = pl.col("call").str.contains("(?i)put|accumulate")
        is_sent = (pl.col("kind") == "sent") | ((pl.col("kind") == "one-sided") & is_put)
        return self.calls.filter(is_sent & (pl.col("partner") != PROC_NULL))

    @cached_property
    def sends(self) -> pl.DataFrame:
        """Messages, bytes and destinations of each rank: see `sends_by_rank`."""
        from nhalf.facts.program.sends import sends_by_rank

        return sends_by_rank(self.messages, self.ranks)

    @cached_property
    def sizes(self) -> pl.DataFrame:
        """Messages and bytes of each size, with cumulative shares."""
        from nhalf.facts.program.sizes import sizes

        return sizes(self.messages)

    @cached_property
    def matrix(self) -> Matrix:
        """Messages and bytes from rank to rank."""
        from nhalf.facts.program.matrix import matrix

        return matrix(self.sent, self.ranks)

    @cached_property
    def shape(self) -> Shape:
        """The name of the communication pattern."""
        from nhalf.facts.program.shape.naming import shape_of, swept
        from nhalf.facts.program.shape.sweeps import is_swept

        shape = shape_of(self.matrix.messages, self.matrix.bytes)
        # A circulating token is not a wavefront.
        has_ends = shape.grid is not None and not any(shape.grid.periodic)
        return swept(shape) if has_ends and is_swept(self.timeline) else shape

    @cached_property
    def collectives(self) -> pl.DataFrame:
        """Collective calls by communicator and size."""
        from nhalf.facts.program.collectives import collectives

        return collectives(self.calls)

    @cached_property
    def time_by_call(self) -> pl.DataFrame:
        """Time of each rank in each call."""
        from nhalf.facts.program.time_in_mpi import time_by_call

        return time_by_call(self.calls)

    @cached_property
    def time_by_rank(self) -> pl.DataFrame:
        """Time of each rank in MPI and waiting there."""
        from nhalf.facts.program.time_in_mpi import time_by_rank

        return time_by_rank(self.calls, self.elapsed_s, self.ranks)

    @cached_property
    def waiting(self) -> pl.DataFrame:
        """Waiting of each rank by its cause."""
        from nhalf.facts.program.waiting import waiting

        return waiting(self.calls)

    @cached_property
    def arrivals(self) -> pl.DataFrame:
        """Collective operations with the spread of their arrivals; empty without a timeline."""
        from nhalf.facts.program.waiting import arrivals

        return arrivals(self.timeline)

    @cached_property
    def late_messages(self) -> pl.DataFrame:
        """Waiting between pairs of ranks; empty without a timeline."""
        from nhalf.facts.program.late_messages import late_pairs

        return late_pairs(self.timeline)

    @cached_property
    def over_time(self) -> pl.DataFrame:
        """Messages and bytes of all ranks over time."""
        from nhalf.facts.program.rate import over_time

        return over_time(self.bins)

    @cached_property
    def phases(self) -> list[Row]:
        """Phases of constant rate."""
        from nhalf.facts.program.rate import phases

        return phases(self.over_time)

    @cached_property
    def placement(self) -> Placement | None:
        """A distribution of the ranks over the same hosts that sends less between them."""
        from nhalf.facts.program.placement import better_placement

        names = list(dict.fromkeys(self.hosts))
        used = [names.index(host) for host in self.hosts]
        return better_placement(self.matrix.bytes, used)
