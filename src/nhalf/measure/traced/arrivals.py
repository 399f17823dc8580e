"""How far apart the ranks of a traced program came to its collective operations, for `arrival`."""

from pathlib import Path

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.measure.traced.tables import open_trace

ROWS_MOST, STARTS_MOST = 8, 256
"""Most operations of a table, and most starts unless a single operation has more."""
APART_MOST_S = 1.0
"""Ranks that are further apart did something else before, such as reading input."""
WORLD = 0


def arrival_table(text: str) -> str:
    """The value of axis `arrival` for a trace's FOLDER or FOLDER:CALL: '0-35-12_5-0-7'.

    A row is an operation on MPI_COMM_WORLD, of this call (MPI_Allreduce) if one is named: the
    microseconds by which each rank came after the first. Of many operations the rows are quantiles
    of the time between their first and last rank. Raises InputError without any such operation.
    """
    folder, _, call = text.partition(":")
    operations = pl.col("kind") == "collective", pl.col("communicator") == WORLD
    calls = open_trace(Path(folder)).rows("timeline").filter(*operations)
    if call:
        calls = calls.filter(pl.col("call").cast(pl.String) == call)
    numbered = calls.sort("rank", "start_s").with_columns(
        number=pl.int_range(pl.len()).over("rank", "call")
    )
    starts = numbered.group_by("call", "number", maintain_order=True).agg(
        pl.col("start_s").sort_by("rank"), ranks=pl.col("rank").n_unique(), calls=pl.len()
    )
    ranks = int(starts["ranks"].max() or 0)  # type: ignore[arg-type]
    whole = starts.filter(pl.col("ranks") == ranks, pl.col("calls") == ranks)
    rows_s = np.array(whole["start_s"].to_list()).reshape(-1, max(ranks, 1))
    rows_s -= rows_s.min(axis=1, keepdims=True, initial=np.inf)
    rows_s = rows_s[rows_s.max(axis=1, initial=0) <= APART_MOST_S]
    if ranks < 2 or not len(rows_s):
        raise InputError(
            f"{folder} has no timeline with {call or 'a collective operation'} of all its ranks",
            "record one with nhalf trace --detail timeline, or name another call",
        )
    return "_".join("-".join(map(str, row)) for row in _quantiles_us(rows_s))


def _quantiles_us(rows_s: Floats) -> list[list[int]]:
    """Some of the (operations, ranks) starts, in whole microseconds, by increasing spread."""
    ordered = rows_s[np.argsort(rows_s.max(axis=1), kind="stable")]
    rows = min(len(ordered), ROWS_MOST, max(1, STARTS_MOST // ordered.shape[1]))
    places = (2 * np.arange(rows) + 1) * len(ordered) // (2 * rows)
    return [[round(start_s * 1e6) for start_s in row] for row in ordered[places].tolist()]
