# SPDX-License-Identifier: Apache-2.0
"""How far ranks in virtual time are, and how long they will take in real time at least."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from nhalf.base.numbers import whole
from nhalf.base.units import format_time
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point
from nhalf.measure.virtual.region import Member

INTERVAL_S = 5.0
OPERATIONS = 4
"""Operations of a point: one is verified, one is tried, two are sampled."""
CONTROLS = 3
"""Operations of control beside each: a broadcast, times collected, and whether to go on."""
MESSAGES_PER_S, BYTES_PER_S = 80e3, 1e9
"""What the network passes of small messages, and of large ones, at best."""
DENSE = ("alltoall", "allgather", "many-to-many")
"""Beginnings of operations in which every rank sends to every other."""


class VirtualProgress:
    """Says every few seconds of real time how far the ranks are."""

    def __init__(
        self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin to count real time; `say` takes a line."""
        self._say = say
        self._now = now
        self._began_s = self._said_s = now()

    def look(self, members: Sequence[Member]) -> None:
        """Say it if it is time."""
        now_s = self._now()
        if now_s - self._said_s >= INTERVAL_S:
            self._said_s = now_s
            self._say(in_words(members, now_s - self._began_s))


def in_words(members: Sequence[Member], real_s: float) -> str:
    """Virtual and real time, and messages so far."""
    virtual_s = max((member.now_ps for member in members), default=0) / 1e12
    messages = sum(member.messages for member in members)
    return (
        f"{format_time(virtual_s)} virtual, {format_time(real_s)} real, {whole(messages)} messages"
    )


def least_s(agenda: Agenda) -> float:
    """The seconds of real time that the points of an agenda take at least."""
    return sum(
        _point_s(agenda, point) for start in agenda.starts() for point in agenda.points(start)
    )


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
