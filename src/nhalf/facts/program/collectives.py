"""The collective operations that a program calls, their sizes and times."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program


@fact
def collective_calls(program: Program) -> pl.DataFrame:
    """One row per call, communicator and size, the most expensive first.

    Columns `call`, `operation`, `communicator`, `size_bytes`, `ranks` that
    take part, `operations` (the most calls of any rank), `time_s` and `waiting_s` (mean over those
    ranks), `max_s` (the longest call), `bytes` given by all ranks.
    """
    per_rank = (
        program.calls.filter(pl.col("kind") == "collective")
        .group_by("call", "communicator", "size_bytes", "rank")
        .agg(pl.col("count", "bytes", "time_s", "waiting_s").sum(), pl.col("max_s").max())
    )
    sums = per_rank.group_by("call", "communicator", "size_bytes").agg(
        ranks=pl.len(),
        operations=pl.col("count").max(),
        time_s=pl.col("time_s").mean(),
        waiting_s=pl.col("waiting_s").mean(),
        max_s=pl.col("max_s").max(),
        bytes=pl.col("bytes").sum(),
    )
    name = pl.col("call").map_elements(operation, return_dtype=pl.String).alias("operation")
    return sums.with_columns(name).sort(
        ["time_s", "call", "communicator", "size_bytes"], descending=[True, False, False, False]
    )
