# SPDX-License-Identifier: Apache-2.0
"""Programs that other tools recorded, as the tables and the folder of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.files import write_bytes
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import DESCRIPTION, TABLES

_SAME = ("rank", "thread", "call", "kind", "communicator", "partner", "size_bytes")


def world(ranks: Iterable[int]) -> pl.DataFrame:
    """The table of communicators with MPI_COMM_WORLD alone, of these ranks."""
    rows = [
        {"communicator": 0, "name": "MPI_COMM_WORLD", "rank": rank, "world_rank": rank}
        for rank in ranks
    ]
    return pl.DataFrame(rows, schema=TABLES["communicators"])


def counted_calls(timeline: pl.DataFrame, spent: pl.Expr | None = None) -> pl.DataFrame:
    """The table of calls of a timeline; `spent` is the time in a call if it is not end - start."""
    time_s = (pl.col("end_s") - pl.col("start_s")) if spent is None else spent
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
            table.write_parquet(folder / f"{name}.parquet")
    except OSError as error:
        raise MissingError(f"{folder} cannot be written: {error.strerror}") from error
    write_bytes(folder / DESCRIPTION, msgspec.json.encode(program.trace))
