"""Time of each rank inside MPI, by call."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.measure.traced.totals import summed_by_call


@fact
def time_by_call(program: Program) -> pl.DataFrame:
    """One row per rank and call: columns `rank`, `call`, `kind`, `count`, `bytes`, `time_s`,
    `waiting_s`; by rank, the most time first. Each call counts once, also one that sends and
    receives, whose kind is SENT_AND_RECEIVED.
    """
    by_call = summed_by_call(program.calls.lazy(), "rank").collect()
    return by_call.sort(["rank", "time_s", "call"], descending=[False, True, False])


@fact
def time_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank`, `time_s`, `waiting_s`, and their shares of `elapsed_s`.

    Of several threads of a rank, the one that spends most time in MPI counts. Shares are null if
    the elapsed time is unknown.
    """
    threads = program.calls.group_by("rank", "thread").agg(pl.col("time_s", "waiting_s").sum())
    busiest = threads.sort("time_s", "thread").group_by("rank").last().drop("thread")
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    full = all_ranks.join(busiest, on="rank", how="left").with_columns(
        pl.col("time_s", "waiting_s").fill_null(0.0)
    )
    elapsed_s = program.elapsed_s
    elapsed = pl.lit(elapsed_s if elapsed_s > 0 else None, dtype=pl.Float64)
    return full.with_columns(
        time_share=pl.col("time_s") / elapsed, waiting_share=pl.col("waiting_s") / elapsed
    ).sort("rank")
