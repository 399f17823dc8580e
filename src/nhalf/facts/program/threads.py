"""Threads that call MPI: shares of a run are shares of their time."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


@fact
def threads_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank` and `threads`, those that call MPI, at least one."""
    counted = program.calls.group_by("rank").agg(threads=pl.col("thread").n_unique())
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    threads = pl.col("threads").fill_null(1).cast(pl.Int64)
    return all_ranks.join(counted, on="rank", how="left").with_columns(threads).sort("rank")


@fact
def has_threads(program: Program) -> bool:
    """Whether some rank calls MPI from several threads."""
    return bool((threads_by_rank(program)["threads"] > 1).any())


@fact
def threads_time_s(program: Program) -> float:
    """The run time of all threads that call MPI together, seconds; 0 if it is unknown."""
    return program.elapsed_s * int(threads_by_rank(program)["threads"].sum())


def share_of_threads_time(program: Program, seconds: pl.Expr) -> pl.Expr:
    """Seconds of all threads as a share of their time, 0 to 1; null if that is unknown."""
    whole_s = threads_time_s(program)
    return (seconds / pl.lit(whole_s if whole_s > 0 else None, dtype=pl.Float64)).clip(0.0, 1.0)
