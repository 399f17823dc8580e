"""The calls that take most of all ranks' time: a call at a place, of whatever sizes."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.call_sites import calls_by_place
from nhalf.facts.program.program import Program


@fact
def most_expensive(program: Program) -> pl.DataFrame:
    """Calls at places by the time of all ranks, the longest first, with the columns of
    `calls_by_place`.
    """
    return calls_by_place(program).filter(pl.col("time_s") > 0)
