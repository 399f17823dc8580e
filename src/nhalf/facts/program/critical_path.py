"""The critical path of a timeline: what the run time consists of, from the last end back.

It follows the rank that ends last back to its last wait, the message or operation of that back to
the rank that was waited for, and so on. Only what is on it can make the program shorter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.facts.fact import fact
from nhalf.facts.program.own_time import OwnTime, own_times
from nhalf.facts.program.program import Program
from nhalf.facts.program.waits import waits

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
    """The parts of the path, the last one first."""
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
