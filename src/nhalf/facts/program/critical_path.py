"""The time between calls of MPI, each rank's own, and the longest path through it and messages.

It follows the rank that ends last back to its last wait, the message or operation of that back to
the rank that was waited for, and so on. Only what is on it can make the program shorter.

Of several threads of a rank, the one that is longest in MPI counts. Loops of polls are one call,
and a receive that only begins takes no time: see schedule.py.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.calls import time_by_rank
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor, schedule
from nhalf.facts.program.waits import waits


def amounts_until_s(
    starts_s: Floats, ends_s: Floats, amounts_s: Floats, moments_s: Floats
) -> Floats:
    """The amounts of all spans up to each moment; the spans do not overlap."""
    if not len(starts_s):
        return np.zeros(len(moments_s))
    edges_s = np.column_stack([starts_s, ends_s]).ravel()
    before_s = np.concatenate([[0.0], np.cumsum(amounts_s)])
    sums_s = np.column_stack([before_s[:-1], before_s[1:]]).ravel()
    until_s: Floats = np.interp(moments_s, edges_s, sums_s)
    return until_s


@dataclass(frozen=True)
class OwnTime:
    """The calls of a rank, one after another, from its begin to its end; in seconds.

    `call` has their names, `thread` is the number of the thread that makes them.
    """

    begin_s: float
    end_s: float
    starts_s: Floats
    ends_s: Floats
    call: Sequence[str]
    thread: int = 0

    @property
    def computing_s(self) -> float:
        """The time outside MPI."""
        return self.end_s - self.begin_s - float(np.sum(self.ends_s - self.starts_s))

    def in_mpi_until_s(self, moments_s: Floats) -> Floats:
        """The time in MPI from the begin to each moment."""
        times_s = self.ends_s - self.starts_s
        return amounts_until_s(self.starts_s, self.ends_s, times_s, moments_s)

    def calls_between(self, from_s: float, to_s: float) -> list[tuple[str, float]]:
        """The calls in a span of time, with their part of it."""
        spans = self.spans_between(from_s, to_s)
        return [(call, end_s - begin_s) for call, begin_s, end_s in spans]

    def spans_between(self, from_s: float, to_s: float) -> list[tuple[str, float, float]]:
        """The calls in a span of time, with the begin and the end of their part of it."""
        first = int(np.searchsorted(self.ends_s, from_s, side="right"))
        last = int(np.searchsorted(self.starts_s, to_s, side="left"))
        return [
            (
                self.call[place],
                max(from_s, float(self.starts_s[place])),
                min(to_s, float(self.ends_s[place])),
            )
            for place in range(first, last)
        ]


@fact
def own_times(program: Program) -> dict[int, OwnTime]:
    """The own time of each rank that was traced, in their order; empty without a timeline."""
    if program.timeline.is_empty():
        return {}
    first_s = min((record.begin_s for record in program.trace.ranks), default=0.0)
    by_rank: dict[int, OwnTime] = {}
    for actor in schedule(program):
        own = _own_time(actor, first_s)
        longer = by_rank.get(actor.rank)
        if longer is None or own.computing_s < longer.computing_s:
            by_rank[actor.rank] = own
    return dict(sorted(by_rank.items()))


def _own_time(actor: Actor, first_s: float) -> OwnTime:
    """The calls of an actor by their begins and ends."""
    pairs = np.column_stack([actor.before_s, actor.measured_s]).ravel()
    edges_s = first_s + actor.begin_s + np.cumsum(pairs)
    last_s = float(edges_s[-1]) if len(edges_s) else first_s + actor.begin_s
    return OwnTime(
        begin_s=first_s + actor.begin_s,
        end_s=last_s + actor.after_s,
        starts_s=edges_s[0::2],
        ends_s=edges_s[1::2],
        call=[actor.forms[form].call for form in actor.form],
        thread=actor.thread,
    )


@fact
def computing_s(program: Program) -> dict[int, float]:
    """The seconds outside MPI of each rank that was traced, in their order."""
    own = own_times(program)
    if own:
        return {rank: max(0.0, times.computing_s) for rank, times in own.items()}
    in_mpi_s = dict(time_by_rank(program).select("rank", "time_s").iter_rows())
    return {
        record.rank: max(0.0, record.end_s - record.begin_s - in_mpi_s.get(record.rank, 0.0))
        for record in sorted(program.trace.ranks, key=lambda record: record.rank)
    }


LEAST_S = 5e-13
"""Half a picosecond: the same moment, but for rounding."""
_Wait = tuple[float, float, int, str]
"""When its call ends, when the wait does, for whom it is, and the call."""


@dataclass(frozen=True)
class PathSegment:
    """A part of the path: a rank from `begin_s` to `end_s`; `call` waits for a message or others'
    operation meanwhile, '' if the rank works.
    """

    rank: int
    begin_s: float
    end_s: float
    call: str = ""


@dataclass(frozen=True)
class CriticalPath:
    """The path from its begin to its end, and the seconds on it.

    `computing_s` is by rank, `calls_s` by call: the time in it once nobody is waited for.
    `before_s` is how long after the first rank's begin the path begins.
    """

    pieces: list[PathSegment]
    computing_s: dict[int, float]
    calls_s: dict[str, float]
    before_s: float

    @property
    def length_s(self) -> float:
        """From begin to end, with what is before it: the run time."""
        return sum(self.computing_s.values()) + sum(self.calls_s.values()) + self.before_s


@fact
def critical_path(program: Program) -> CriticalPath | None:
    """The critical path; None without a timeline."""
    own = own_times(program)
    if not own:
        return None
    pieces = list(_pieces(program, own))[::-1]
    computing_s: dict[int, float] = defaultdict(float)
    calls_s: dict[str, float] = defaultdict(float)
    for piece in pieces:
        whole_s = piece.end_s - piece.begin_s
        if piece.call:
            calls_s[piece.call] += whole_s
            continue
        for call, seconds in own[piece.rank].calls_between(piece.begin_s, piece.end_s):
            calls_s[call] += seconds
            whole_s -= seconds
        computing_s[piece.rank] += whole_s
    first_s = min(rank.begin_s for rank in own.values())
    used_s = {call: seconds for call, seconds in calls_s.items() if seconds > 0}
    return CriticalPath(pieces, dict(computing_s), used_s, pieces[0].begin_s - first_s)


def _pieces(program: Program, own: dict[int, OwnTime]) -> Iterator[PathSegment]:
    by_rank: dict[int, list[_Wait]] = defaultdict(list)
    for row in waits(program).sort("end_s").iter_rows(named=True):
        by_rank[row["rank"]].append((row["end_s"], row["to_s"], row["late_rank"], row["call"]))
    rank = max(own, key=lambda number: own[number].end_s)
    now_s = own[rank].end_s
    while True:
        wait = _last_before(by_rank[rank], now_s)
        if wait is None or wait[2] not in own:
            break
        end_s, to_s, late_rank, call = wait
        if now_s > end_s:
            yield PathSegment(rank, end_s, now_s)
        yield PathSegment(rank, to_s, min(end_s, now_s), call)
        rank, now_s = late_rank, to_s
    yield PathSegment(rank, own[rank].begin_s, now_s)


def _last_before(ended: list[_Wait], now_s: float) -> _Wait | None:
    """The last wait whose call had ended by then; time goes back at each."""
    place = bisect_right(ended, now_s + LEAST_S, key=lambda wait: wait[0])
    for wait in reversed(ended[:place]):
        if wait[1] < now_s:
            return wait
    return None
