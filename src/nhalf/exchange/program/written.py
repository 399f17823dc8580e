"""Programs that other tools recorded, as the tables and the folder of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.files import write_bytes
from nhalf.facts.program.completions import is_begun_before
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import DESCRIPTION, TABLES
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
