"""A timeline in spans of time: the state of each rank in them, and the rates of its messages.

The bins of all ranks and threads are added up; if there are more than BINS_MAX, adjacent ones are
merged. A phase is a sequence of bins with one rate: the series of log(1 + messages) is divided in
two so that the sum of squares is smallest, and again, as long as that saves more than noise would
(binary segmentation with a Bayesian information criterion; J. Chen, A. K. Gupta,
Parametric Statistical Change Point Analysis, 2nd ed., 2012, ch. 2).
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.program.critical_path import OwnTime, amounts_until_s, critical_path, own_times
from nhalf.facts.program.disturbance import NOBODY, queued
from nhalf.facts.program.program import Program
from nhalf.facts.program.waits import waits

COMPUTING, WAITING, TRANSFERRING, IN_MPI, NO_PROCESSOR = STATES = (
    "computing",
    "waiting for a late rank",
    "transferring",
    "in MPI",
    "no processor",
)
"""A rank waits until the other rank comes, transfers from then to the end of the call, and has no
processor where others have it; what else it does in calls is in MPI."""

Shares = NDArray[np.float64]


@fact
def run_parts_s(program: Program, parts: int) -> Floats:
    """The edges of equal parts of the run, in seconds since the command began."""
    own = own_times(program).values()
    begin_s = min((rank.begin_s for rank in own), default=0.0)
    end_s = max((rank.end_s for rank in own), default=0.0)
    edges_s: Floats = np.linspace(begin_s, max(begin_s, end_s), parts + 1)
    return edges_s


@fact
def states(program: Program, parts: int) -> dict[int, Shares]:
    """By rank, the seconds in each part of the run (a row) and each of STATES (a column); empty
    without a timeline.
    """
    edges_s = run_parts_s(program, parts)
    by_rank = {
        int(str(rank)): own
        for (rank,), own in waits(program).group_by(["rank"], maintain_order=True)
    }
    return {
        rank: _of_rank(program, rank, own, by_rank.get(rank), edges_s)
        for rank, own in own_times(program).items()
    }


def _of_rank(
    program: Program, rank: int, own: OwnTime, waited: pl.DataFrame | None, edges_s: Floats
) -> Shares:
    alive_s = np.diff(np.clip(edges_s, own.begin_s, own.end_s))
    in_mpi_s = np.minimum(np.diff(own.in_mpi_until_s(edges_s)), alive_s)
    waiting_s, transferring_s = np.zeros(len(alive_s)), np.zeros(len(alive_s))
    if waited is not None:
        waiting_s = _between(waited, "from_s", "to_s", edges_s)
        transferring_s = _between(waited, "to_s", "end_s", edges_s)
    columns = [
        alive_s - in_mpi_s,
        np.minimum(waiting_s, in_mpi_s),
        np.minimum(transferring_s, np.maximum(0.0, in_mpi_s - waiting_s)),
        np.maximum(0.0, in_mpi_s - waiting_s - transferring_s),
    ]
    taken_s = np.zeros(len(alive_s))
    # What others took in calls is taken from what waits for nobody first.
    for in_call, order in ((False, (0,)), (True, (3, 2, 1))):
        spans = queued(program, in_call=in_call).get(rank, NOBODY)
        remaining_s = spans.parts_s(edges_s[:-1], edges_s[1:])
        for column in order:
            part_s = np.minimum(columns[column], remaining_s)
            columns[column] = columns[column] - part_s
            remaining_s = remaining_s - part_s
            taken_s = taken_s + part_s
    shares: Shares = np.column_stack([*columns, taken_s])
    return shares


def _between(waited: pl.DataFrame, begin: str, end: str, edges_s: Floats) -> Floats:
    """The seconds in each part of spans that are rows."""
    rows = waited.sort(begin)
    starts_s, ends_s = rows[begin].to_numpy(), rows[end].to_numpy()
    until_s: Any = amounts_until_s(starts_s, ends_s, ends_s - starts_s, edges_s)
    between_s: Floats = np.diff(until_s)
    return between_s


@fact
def path_ranks(program: Program, parts: int) -> list[tuple[float, float, int]]:
    """The critical path for a picture: begin and end in seconds, and the rank, in order of time.

    All its pieces if there are no more than parts; else the rank that most of each part is on.
    """
    path = critical_path(program)
    if path is None:
        return []
    if len(path.pieces) <= parts:
        return [(piece.begin_s, piece.end_s, piece.rank) for piece in path.pieces]
    edges_s = run_parts_s(program, parts)
    begins_s = np.array([piece.begin_s for piece in path.pieces])
    ends_s = np.array([piece.end_s for piece in path.pieces])
    ranks = np.array([piece.rank for piece in path.pieces])
    most_s, longest = np.zeros(parts), np.full(parts, -1)
    for rank in np.unique(ranks):
        own = ranks == rank
        times_s = ends_s[own] - begins_s[own]
        on_path_s = np.diff(amounts_until_s(begins_s[own], ends_s[own], times_s, edges_s))
        longest = np.where(on_path_s > most_s, rank, longest)
        most_s = np.maximum(most_s, on_path_s)
    spans: list[tuple[float, float, int]] = []
    for part in np.flatnonzero(longest >= 0).tolist():
        begin_s, end_s, rank = float(edges_s[part]), float(edges_s[part + 1]), int(longest[part])
        if spans and spans[-1][2] == rank and spans[-1][1] == begin_s:
            begin_s = spans.pop()[0]
        spans.append((begin_s, end_s, rank))
    return spans


BINS_MAX = 512
PHASE_BINS_MIN = 3
PHASES_MAX = 12
NOISE_MIN = 0.1
"""Rates that differ by less than a tenth form one phase."""
DIFFERENT = 1.5


@fact
def rates_over_time(program: Program) -> pl.DataFrame:
    """All ranks together: columns `start_s`, `width_s`, `kind`, `messages`, `bytes`, `time_s`.

    Empty bins are included, from the first to the last of any kind.
    """
    bins = program.bins
    if bins.is_empty():
        return pl.DataFrame(
            schema={
                **{"start_s": pl.Float64, "width_s": pl.Float64, "kind": pl.String},
                **{"messages": pl.Int64, "bytes": pl.Int64, "time_s": pl.Float64},
            }
        )
    bin_s = float(bins["width_s"].max())  # type: ignore[arg-type]
    spans = float(bins["start_s"].max()) / bin_s  # type: ignore[arg-type]
    width_s = bin_s * 2 ** max(0, math.ceil(math.log2((spans + 1) / BINS_MAX)))
    place = ((pl.col("start_s") + 0.5 * pl.col("width_s")) / width_s).floor().cast(pl.Int64)
    messages = pl.col("count").sum()
    sums = (
        bins.with_columns(place=place)
        .group_by("place", "kind")
        .agg(messages=messages, bytes=pl.col("bytes").sum(), time_s=pl.col("time_s").sum())
    )
    first, last = sums["place"].min(), sums["place"].max()
    places = pl.DataFrame({"place": range(int(first), int(last) + 1)})  # type: ignore[arg-type]
    bins_by_kind = places.join(sums.select("kind").unique(), how="cross")
    full = bins_by_kind.join(sums, on=["place", "kind"], how="left").fill_null(0)
    return full.select(
        start_s=pl.col("place") * width_s,
        width_s=pl.lit(width_s),
        kind="kind",
        messages="messages",
        bytes="bytes",
        time_s="time_s",
    ).sort("kind", "start_s")


@fact
def rate_phases(program: Program) -> list[Row]:
    """The phases of constant rate, in order.

    Counts messages sent and collective calls together. Each phase has `start_s`, `end_s`,
    `messages`, `bytes` and `messages_per_s`.
    """
    rates = rates_over_time(program)
    active = rates.filter(pl.col("kind").is_in(["sent", "collective"]))
    if active.is_empty():
        return []
    total = active.group_by("start_s").agg(pl.col("messages", "bytes").sum()).sort("start_s")
    width_s = float(rates["width_s"][0])
    level = np.log1p(total["messages"].to_numpy().astype(float))
    bounds = [0, *_changes(level), len(level)]
    rows = []
    for begin, end in itertools.pairwise(bounds):
        part = total[begin:end]
        seconds = (end - begin) * width_s
        rows.append(
            {
                "start_s": float(part["start_s"][0]),
                "end_s": float(part["start_s"][0]) + seconds,
                "messages": int(part["messages"].sum()),
                "bytes": int(part["bytes"].sum()),
                "messages_per_s": float(part["messages"].sum()) / seconds,
            }
        )
    return rows


def _changes(level: Floats) -> list[int]:
    """Where phases after the first begin; the clearest are found first."""
    boundaries: list[int] = []
    parts = [(0, len(level))]
    while parts and len(boundaries) < PHASES_MAX - 1:
        best = max(_splits(level, parts), default=None)
        if best is None:
            break
        _, at, part = best
        parts.remove(part)
        parts += [(part[0], at), (at, part[1])]
        boundaries.append(at)
    return sorted(boundaries)


def _splits(
    level: Floats, parts: list[tuple[int, int]]
) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """The best worthwhile division of each part: its saving, its position, and the part."""
    for begin, end in parts:
        values = level[begin:end]
        number = len(values)
        if number < 2 * PHASE_BINS_MIN:
            continue
        before = np.arange(PHASE_BINS_MIN, number - PHASE_BINS_MIN + 1)
        sums = np.concatenate([[0.0], values.cumsum()])
        after = number - before
        mean_before, mean_after = sums[before] / before, (sums[-1] - sums[before]) / after
        gain = before * after / number * (mean_before - mean_after) ** 2
        at = int(gain.argmax())
        residual = max(float(((values - values.mean()) ** 2).sum() - gain[at]), 0.0)
        noise = max(residual / number, NOISE_MIN**2)
        differ = abs(mean_before[at] - mean_after[at]) >= np.log(DIFFERENT)
        if differ and gain[at] > 3 * noise * np.log(number):
            yield float(gain[at]), begin + int(before[at]), (begin, end)
