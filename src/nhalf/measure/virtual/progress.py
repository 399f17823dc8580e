"""How far ranks in virtual time are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from nhalf.base.numbers import whole
from nhalf.base.units import format_time
from nhalf.measure.virtual.region import RankRecord

INTERVAL_S, LOG_INTERVAL_S = 5.0, 60.0
"""How often a line says it: on a terminal, and in a file that somebody reads later."""


class VirtualProgress:
    """Says every few seconds of real time how far the ranks are."""

    def __init__(
        self,
        say: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """Begin to count real time; `say` takes a line."""
        self._interval_s = interval_s
        self._say = say
        self._now = now
        self._began_s = self._said_s = now()

    def look(self, members: Sequence[RankRecord]) -> None:
        """Say it if it is time."""
        now_s = self._now()
        if now_s - self._said_s >= self._interval_s:
            self._said_s = now_s
            self._say(in_words(members, now_s - self._began_s))


def in_words(members: Sequence[RankRecord], real_s: float) -> str:
    """Virtual and real time, and messages so far."""
    virtual_s = max((member.now_ps for member in members), default=0) / 1e12
    messages = sum(member.messages for member in members)
    return (
        f"{format_time(virtual_s)} virtual, {format_time(real_s)} real, {whole(messages)} messages"
    )
