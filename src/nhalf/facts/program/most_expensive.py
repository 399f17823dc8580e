# SPDX-License-Identifier: Apache-2.0
"""The operations that take most of all ranks' time: a call with a size, at a place."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.call_sites import operations_by_place
from nhalf.facts.program.program import Program


@fact
def most_expensive(program: Program) -> pl.DataFrame:
    """Operations by the time of all ranks, the longest first.

    Columns `place` in the program ('' if that is not known), `call`, `size_bytes`, `count`,
    `time_s`, `waiting_s`, and `share` of the ranks' time together; null if that is unknown.
    """
    timed = operations_by_place(program).filter(pl.col("time_s") > 0)
    keys = ["time_s", "call", "size_bytes", "place"]
    return timed.sort(keys, descending=[True, False, False, False])
