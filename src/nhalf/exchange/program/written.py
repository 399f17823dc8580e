"""Programs that other tools recorded as the tables of a trace, with or without times."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.files import write_bytes
from nhalf.facts.program.operations import is_begun_before
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import SHORT_S
from nhalf.measure.traced.tables import (
    DESCRIPTION,
    NO_PARTNER,
    NO_SITE,
    SCHEDULE,
    TABLES,
    Rank,
    Trace,
)
from nhalf.store import parquet

_SAME = ("rank", "thread", "call", "kind", "communicator", "partner", "size_bytes")


def world(ranks: Iterable[int]) -> pl.DataFrame:
    """The table of communicators with MPI_COMM_WORLD alone, of these ranks."""
    rows = [
        {"communicator": 0, "name": "MPI_COMM_WORLD", "rank": rank, "world_rank": rank}
        for rank in ranks
    ]
    return pl.DataFrame(rows, schema=TABLES["communicators"])


def time_inside() -> pl.Expr:
    """The time in the call of a row: a receive that only begins ends with its wait."""
    only_begins = (pl.col("kind") == "received") & pl.col("call").map_elements(
        is_begun_before, return_dtype=pl.Boolean
    )
    return pl.when(only_begins).then(0.0).otherwise(pl.col("end_s") - pl.col("start_s"))


def with_waiting(timeline: pl.DataFrame) -> pl.DataFrame:
    """The timeline with what each call waited, as the tracer finds it.

    That is all of a wait and a barrier, and what another call took beyond the shortest one of its
    kind, partner and size until then.
    """
    time_s = time_inside()
    shortest_s = time_s.cum_min().over(_SAME)
    is_wait = (pl.col("kind") == "waiting") | (pl.col("call") == "MPI_Barrier")
    return timeline.with_columns(
        waiting_s=pl.when(is_wait).then(time_s).otherwise(time_s - shortest_s)
    )


def counted_calls(timeline: pl.DataFrame, spent: pl.Expr | None = None) -> pl.DataFrame:
    """The table of calls of a timeline; `spent` is the time in a call, if not these."""
    time_s = time_inside() if spent is None else spent
    counted = timeline.group_by(_SAME, maintain_order=True).agg(
        count=pl.len(),
        bytes=pl.col("size_bytes").sum(),
        time_s=time_s.sum(),
        waiting_s=pl.col("waiting_s").sum(),
        min_s=time_s.min(),
        max_s=time_s.max(),
    )
    return counted.select(pl.col(name).cast(kind) for name, kind in TABLES["calls"].items())


def write_program(program: Program, folder: Path) -> None:
    """Write a program as the folder of a trace.

    Raises InputError if there is one already, MissingError if it cannot be written.
    """
    if (folder / DESCRIPTION).exists():
        raise InputError(f"{folder} holds a trace already", "choose another --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            table: pl.DataFrame = getattr(program, name)
            parquet.write(table, folder / f"{name}.parquet")
    except OSError as error:
        raise MissingError(f"{folder} cannot be written: {error.strerror}") from error
    write_bytes(folder / DESCRIPTION, msgspec.json.encode(program.trace))


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
        communicator: int = 0,
    ) -> float:
        """Add a call: its thread, name and kind; partner, tag and bytes. Returns when it ends."""
        end_s = now_s + NOMINAL_S
        row = (*actor, *name, communicator, *about, now_s, end_s, 0.0, site)
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
