"""Programs without times: rows of a timeline whose calls take a nominal time, in their order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nhalf.exchange.program.written import counted_calls, world
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import SHORT_S
from nhalf.measure.traced.tables import NO_PARTNER, NO_SITE, SCHEDULE, TABLES, Rank, Trace

NOMINAL_S = 2 * SHORT_S
"""What a call is written to take: longer than a wait that finds its message there, which would
count as the time of the call itself."""


class ScheduleRows:
    """The rows of a timeline, in columns."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in TABLES["timeline"]}

    def __len__(self) -> int:
        return len(self.columns["rank"])

    def append(
        self,
        actor: tuple[int, int],
        name: tuple[str, str],
        about: tuple[int, int, int],
        now_s: float,
        site: int = NO_SITE,
    ) -> float:
        """Add a call: its thread, name and kind; partner, tag and bytes. Returns when it ends."""
        end_s = now_s + NOMINAL_S
        row = (*actor, *name, 0, *about, now_s, end_s, 0.0, site)
        for column, value in zip(self.columns.values(), row, strict=True):
            column.append(value)
        # A receive that begins takes no time, and the calls after it are later than it is.
        return math.nextafter(now_s, math.inf) if name[0] == "MPI_Irecv" else end_s

    def wait(
        self,
        actor: tuple[int, int],
        received: Sequence[int],
        ends_all: bool,
        now_s: float,
        site: int = NO_SITE,
    ) -> float:
        """Add a wait, with which the receives of these rows end. Returns when it ends."""
        for row in received:
            self.columns["end_s"][row] = now_s + NOMINAL_S
        name = ("MPI_Waitall" if ends_all else "MPI_Wait", "waiting")
        return self.append(actor, name, (NO_PARTNER, 0, 0), now_s, site)

    def program(self, path: Path, ends_s: Sequence[float], notes: list[str]) -> Program:
        """The program of these rows; `ends_s` is when each rank ends. Each has its own node."""
        table = pl.DataFrame(self.columns, schema=TABLES["timeline"])
        timeline = table.sort("rank", "thread", "start_s", maintain_order=True)
        records = [
            Rank(rank, f"node{rank}", 0, 0.0, end_s, finished=True)
            for rank, end_s in enumerate(ends_s)
        ]
        trace = Trace([path.name], "", records, 0.0, max(ends_s), SCHEDULE, True, None, notes)
        bins = pl.DataFrame([], schema=TABLES["bins"])
        counted = counted_calls(timeline, spent=pl.lit(0.0))
        return Program(path, trace, counted, bins, timeline, world(range(len(ends_s))))
