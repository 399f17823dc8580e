# SPDX-License-Identifier: Apache-2.0
"""The share of the run that each rank is in MPI, without what others took of the processors.

Without others the run is shorter by D, and the computing of a rank by what they took of it; so its
time in MPI is shorter by D less that. It is longer where a rank then waits for one that nobody
disturbed.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from nhalf.decide.program.undisturbed_program import undisturbed_elapsed_s
from nhalf.facts.fact import fact
from nhalf.facts.program.disturbance import taken_by_others
from nhalf.facts.program.program import Program
from nhalf.facts.program.time_in_mpi import time_by_call, time_by_rank


@dataclass(frozen=True)
class ShareInMpi:
    """The share of the run in MPI: mean over ranks, least and most; the call that takes most.

    `call_share` is the call's share of that time, as measured.
    """

    mean_share: float
    least_share: float
    most_share: float
    call: str
    call_share: float


@fact
def shares_in_mpi(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank` and `time_share`, null if the run time is unknown."""
    measured = time_by_rank(program).select("rank", "time_s", "time_share")
    elapsed_s = undisturbed_elapsed_s(program)
    shorter_s = program.elapsed_s - elapsed_s
    by_others = taken_by_others(program).select("rank", "between_calls_s")
    is_disturbed = shorter_s > 0 or by_others["between_calls_s"].sum() > 0
    if program.timeline.is_empty() or elapsed_s <= 0 or not is_disturbed:
        return measured.drop("time_s")
    in_mpi_s = pl.col("time_s") - shorter_s + pl.col("between_calls_s").fill_null(0.0)
    of_run = (in_mpi_s / elapsed_s).clip(0.0, 1.0)
    return measured.join(by_others, on="rank", how="left", maintain_order="left").select(
        "rank", time_share=of_run
    )


@fact
def share_in_mpi(program: Program) -> ShareInMpi | None:
    """The share of the run in MPI; None if no time is known."""
    shares = shares_in_mpi(program)["time_share"].drop_nulls()
    if shares.is_empty() or not shares.sum():
        return None
    calls = time_by_call(program).group_by("call").agg(pl.col("time_s").sum())
    most = calls.sort("time_s", "call", descending=[True, False]).row(0, named=True)
    return ShareInMpi(
        mean_share=float(shares.sum()) / len(shares),
        least_share=float(min(shares)),
        most_share=float(max(shares)),
        call=str(most["call"]),
        call_share=most["time_s"] / calls["time_s"].sum(),
    )
