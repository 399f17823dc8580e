# SPDX-License-Identifier: Apache-2.0
"""The operations that take most of all ranks' time: a call with a size."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


@fact
def most_expensive(program: Program) -> pl.DataFrame:
    """Operations by the time of all ranks, the longest first.

    Columns `call`, `size_bytes`, `count`, `time_s`, `waiting_s`, and `share` of the ranks' time
    together; null if that is unknown.
    """
    sums = pl.col("count", "time_s", "waiting_s").sum()
    operations = program.calls.group_by("call", "size_bytes").agg(sums)
    whole_s = program.elapsed_s * program.ranks
    whole = pl.lit(whole_s if whole_s > 0 else None, dtype=pl.Float64)
    timed = operations.filter(pl.col("time_s") > 0).with_columns(share=pl.col("time_s") / whole)
    return timed.sort("time_s", "call", "size_bytes", descending=[True, False, False])
