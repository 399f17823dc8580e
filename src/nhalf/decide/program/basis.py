"""Which run all shares of a program refer to, and how well the program uses its ranks in it.

It is the run without others where that is known, else as traced. It is known with a timeline that
nothing cut off, of calls whose order a replay follows. Where others took a noticeable part of a
rank's time and it is not known, shares are those of a run that they made longer by an unknown
amount: then no efficiency is known, nor what faster communication would save.

Efficiencies are those of the POP centre of excellence: with c the time that a rank computes, T the
run time, and T* the run time on a network on which nothing takes time,

    parallel efficiency = load balance x communication     mean c / T
    load balance                                           mean c / largest c
    communication = serialisation x transfer               largest c / T
    serialisation                                          largest c / T*
    transfer                                               T* / T

What is lost to serialisation is waiting that no network can avoid; T* is a replay of the timeline.
Where others had the ranks' processors, c, T and T* are without the time that they took.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from nhalf.decide.program.costs import Costs
from nhalf.decide.program.message_costs import MessageTimes
from nhalf.decide.program.replay import replays
from nhalf.decide.program.undisturbed_program import undisturbed_program
from nhalf.facts.fact import fact
from nhalf.facts.program.calls import has_threads, threads_by_rank, time_by_call, time_by_rank
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.disturbance import most_taken_share, undisturbed_computing_s
from nhalf.facts.program.program import Program, has_whole_timeline

QUIET = 0.01
"""Others take this share of a rank's time on any quiet machine."""
NOTICEABLE = 0.05
"""From this share on, the run as traced does not tell efficiencies."""
HELD = 0.2
"""Others that have this share of a rank's time are the first cause of how long a run takes."""
LONGER = 0.02
"""A run that would be longer by more than this share without others is not known without them."""


FOLLOWED = 0.95
"""A replay that does not follow more than the rest of the time in MPI does not tell a run."""


@fact
def shown_run(program: Program) -> Program:
    """The run that all shares refer to; itself if others took nothing of it."""
    if most_taken_share(program) < QUIET or _followed_share(program) < FOLLOWED:
        return program
    alone = undisturbed_program(program)
    is_plausible = 0 < alone.elapsed_s <= (1 + LONGER) * program.elapsed_s
    return alone if is_plausible else program


def _followed_share(program: Program) -> float:
    """The share of the time in MPI of calls that replays follow: one-sided accesses, and what waits
    for these, are not.
    """
    in_mpi_s = float(program.calls["time_s"].sum())
    waits_for_accesses = (pl.col("kind") == "waiting") & pl.col("call").str.starts_with("MPI_Win_")
    is_lost = (pl.col("kind") == "one-sided") | waits_for_accesses
    lost_s = float(program.calls.filter(is_lost)["time_s"].sum())
    return 1 - lost_s / in_mpi_s if in_mpi_s > 0 else 1.0


@fact
def is_disturbed(program: Program) -> bool:
    """Whether others slowed the run that shares refer to by an unknown amount."""
    shown = shown_run(program)
    return shown.as_traced is None and most_taken_share(shown) >= NOTICEABLE


def traced_run(program: Program) -> Program:
    """The run that was traced, of which others may have had a part."""
    return program.as_traced or program


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


class IdealCosts(Costs):
    """No message and no operation takes time; only a synchronous send waits for its receive."""

    rendezvous_bytes = 1 << 62
    calls_take_time = False

    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """Nothing."""
        return MessageTimes(*np.zeros((5, len(size_bytes))))

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """Nothing."""
        return 0.0


@fact
def ideal_s(program: Program) -> float:
    """The run time without others, on a network on which nothing takes time; needs a timeline."""
    return replays(program, [(IdealCosts(), 1.0)])[0].end_s


@dataclass(frozen=True)
class Efficiency:
    """The tree, as shares of 1, and what it is made of, in seconds.

    Serialisation, transfer and the time on the ideal network are None without a whole timeline, and
    where several threads of a rank call MPI: which of them waits for which is not traced.
    `elapsed_s` is the run time without what others took, `measured_s` that with it.
    """

    parallel_share: float
    load_balance_share: float
    communication_share: float
    serialisation_share: float | None
    transfer_share: float | None
    elapsed_s: float
    ideal_s: float | None
    mean_computing_s: float
    largest_computing_s: float
    measured_s: float


@fact
def efficiency(program: Program) -> Efficiency | None:
    """The efficiencies of the run that shares refer to.

    None if nothing was computed between calls, or nothing is known, as where others slowed the
    run and nobody knows by how much.
    """
    shown = shown_run(program)
    seconds = undisturbed_computing_s(shown).values()
    largest_s, elapsed_s = max(seconds, default=0.0), shown.elapsed_s
    if largest_s <= 0 or elapsed_s <= 0 or is_disturbed(program):
        return None
    mean_s = sum(seconds) / len(seconds)
    is_replayed = has_whole_timeline(shown) and not has_threads(shown)
    shortest_s = ideal_s(shown) if is_replayed else None
    if shortest_s is not None and shortest_s <= 0:
        return None
    return Efficiency(
        parallel_share=mean_s / elapsed_s,
        load_balance_share=mean_s / largest_s,
        communication_share=largest_s / elapsed_s,
        serialisation_share=None if shortest_s is None else largest_s / shortest_s,
        transfer_share=None if shortest_s is None else shortest_s / elapsed_s,
        elapsed_s=elapsed_s,
        ideal_s=shortest_s,
        mean_computing_s=mean_s,
        largest_computing_s=largest_s,
        measured_s=traced_run(program).elapsed_s,
    )
