"""When each rank was in MPI and when it computed, from a timeline.

Of several threads of a rank, the one that is longest in MPI counts. Loops of polls are one call,
and a receive that only begins takes no time: see schedule.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor, schedule
from nhalf.facts.program.spans import amounts_until_s
from nhalf.facts.program.time_in_mpi import time_by_rank


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
