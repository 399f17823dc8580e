"""The share of the run that each rank is in MPI, of the run that all shares refer to."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from nhalf.decide.program.basis import shown_run
from nhalf.facts.fact import fact
from nhalf.facts.program.calls import has_threads, threads_by_rank, time_by_call, time_by_rank
from nhalf.facts.program.program import Program


@dataclass(frozen=True)
class ShareInMpi:
    """The share of the run in MPI: mean over ranks, least and most; the call that takes most.

    `call_share` is the call's share of that time.
    """

    mean_share: float
    least_share: float
    most_share: float
    call: str
    call_share: float


@fact
def shares_in_mpi(program: Program) -> pl.DataFrame:
    """One row per rank: columns `rank`, `time_share` and `waiting_share`, null if the run time is
    unknown. Of several threads of a rank they are their mean.
    """
    shown = shown_run(program)
    names = ["time_share", "waiting_share"]
    if not has_threads(shown) or shown.elapsed_s <= 0:
        shares = time_by_rank(shown).select("rank", *names)
    else:
        in_mpi = shown.calls.group_by("rank").agg(pl.col("time_s", "waiting_s").sum())
        whole_s = pl.col("threads") * shown.elapsed_s
        shares = threads_by_rank(shown).join(in_mpi, on="rank", how="left", maintain_order="left")
        shares = shares.select(
            "rank",
            time_share=pl.col("time_s").fill_null(0.0) / whole_s,
            waiting_share=pl.col("waiting_s").fill_null(0.0) / whole_s,
        )
    return shares.with_columns(pl.col(names).clip(0.0, 1.0))


@fact
def share_in_mpi(program: Program) -> ShareInMpi | None:
    """The share of the run in MPI; None if no time is known."""
    shares = shares_in_mpi(program)["time_share"].drop_nulls()
    if shares.is_empty() or not shares.sum():
        return None
    calls = time_by_call(shown_run(program)).group_by("call").agg(pl.col("time_s").sum())
    most = calls.sort("time_s", "call", descending=[True, False]).row(0, named=True)
    return ShareInMpi(
        mean_share=float(shares.sum()) / len(shares),
        least_share=float(min(shares)),
        most_share=float(max(shares)),
        call=str(most["call"]),
        call_share=most["time_s"] / calls["time_s"].sum(),
    )
