"""How long a run in virtual time will take in real time: a range, from messages and starts.

What a library sends beside its operations, and how fast this host is, is known afterwards only:
the range is that of three libraries on 2 to 128 ranks of two cores that do nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nhalf.base.units import format_duration
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start
from nhalf.mpi import Library
from nhalf.mpi.vendors import vendor_of

ANNOUNCED_S = 30.0
"""Shorter runs are not announced."""
OPERATIONS = 4
"""Operations of a point: one is verified, one is tried, two are sampled."""
CONTROLS = 3
"""Operations of control beside each: a broadcast, times collected, and whether to go on."""
MESSAGES_PER_S, BYTES_PER_S = 80e3, 1e9
"""What the network passes of small messages, and of large ones, at best."""
DENSE = ("alltoall", "allgather", "many-to-many")
"""Beginnings of operations in which every rank sends to every other."""
MESSAGES_MOST, RATE_LEAST = 2.5, 0.4
"""Messages by this factor more where a library sends its own, at this share of the best rate."""
START_MOST = 2.0
"""How many times longer than on two idle cores a start may take."""
START_ANNOUNCED_S = 5.0


@dataclass(frozen=True)
class RealTime:
    """The real time of a run: low and high end of what it may be."""

    low_s: float
    high_s: float
    points: int

    @property
    def is_long(self) -> bool:
        """Whether it is worth a line; the middle of the range decides."""
        return math.sqrt(self.low_s * self.high_s) > ANNOUNCED_S

    def in_words(self, budget_s: float) -> str:
        """Say it in a line, with the limit (0: the default time); '' for a short run."""
        if not self.is_long:
            return ""
        limit = f"its budget of {format_duration(budget_s)}" if budget_s else "the default time"
        return (
            f"{self.points} points take about {format_duration(self.low_s)} to "
            f"{format_duration(self.high_s)} of real time, longer where other programs have the "
            f"cores; what does not fit {limit} is left out"
        )


def real_time(agenda: Agenda) -> RealTime:
    """The real time that the launches of an agenda take."""
    starts = list(agenda.starts())
    launches = agenda.launches()
    passing_s = launches * sum(_points_s(agenda, start) for start in starts)
    libraries = {subject.key: subject.library for subject in agenda.subjects}
    starting_s = launches * sum(start_s(libraries[start.subject], start.ranks) for start in starts)
    return RealTime(
        passing_s + starting_s,
        passing_s * MESSAGES_MOST / RATE_LEAST + START_MOST * starting_s,
        sum(len(agenda.points(start)) for start in starts),
    )


def start_s(library: Library | None, ranks: int) -> float:
    """What ranks take to start at least; 0 for those that are no processes of a library."""
    return vendor_of(library).virtual_rank_start_s * ranks if library else 0.0


def start_in_words(library: Library, ranks: int) -> str:
    """Say how long a start takes; '' for a short one."""
    low_s = start_s(library, ranks)
    if low_s < START_ANNOUNCED_S:
        return ""
    return (
        f"{ranks} ranks of {library.name} take about {format_duration(round(low_s))} to "
        f"{format_duration(round(START_MOST * low_s))} to start"
    )


def _points_s(agenda: Agenda, start: Start) -> float:
    return sum(_point_s(agenda, point) for point in agenda.points(start))


def _point_s(agenda: Agenda, point: Point) -> float:
    """Every rank of a collective operation sends once in each of log2(p) rounds at least."""
    ranks = point.ranks
    rounds = math.ceil(math.log2(max(ranks, 2)))
    sent = 2
    if agenda.infos[point.pattern].timing == "operation":
        sent = ranks * (ranks - 1 if point.pattern.startswith(DENSE) else 1)
    messages = OPERATIONS * (max(sent, ranks) + ranks * rounds + CONTROLS * (ranks - 1))
    moved_bytes = OPERATIONS * sent * point.size_bytes
    return messages / MESSAGES_PER_S + moved_bytes / BYTES_PER_S
