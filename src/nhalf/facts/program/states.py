"""What each rank does in each part of the run, in parts of equal length."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
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
