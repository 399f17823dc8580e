"""A rank's operations in GOAL as the calls of a thread, one after the other.

Receives are begun as early as they may be, then sends, then calculations; what requires a message
waits for it. So what may overlap does. A message that the very next operation requires is a
blocking call, every other one is begun, and waited for where it is required, or at the end.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.exchange.program.goal_file import CALCULATE, RECEIVE, GoalOperation

BEGIN, BLOCK, WAIT = "begin", "block", "wait"
_FIRST = {RECEIVE: 0, "send": 1, CALCULATE: 2}


@dataclass(frozen=True, slots=True)
class GoalCall:
    """Begin an operation, do it until it is over, or wait for some that were begun: by place.

    `ends_all` says that a wait is for all that were begun.
    """

    action: str
    places: tuple[int, ...]
    ends_all: bool = False


class Circle(Exception):
    """Operations require each other."""


def calls_of(operations: Sequence[GoalOperation], places: Sequence[int]) -> list[GoalCall]:
    """The calls of a thread that does the operations at `places`; raises Circle.

    What is required of other threads is left out.
    """
    return list(_Thread(operations, places).calls())


class _Thread:
    """Operations by what they still require: `_open` counts, `_later` are those that depend."""

    def __init__(self, operations: Sequence[GoalOperation], places: Sequence[int]) -> None:
        self._operations = operations
        own = set(places)
        self._after = {place: own.intersection(operations[place].after) for place in places}
        self._later: dict[int, list[int]] = {place: [] for place in places}
        self._open: dict[int, int] = {}
        for place in places:
            required = self._after[place] | own.intersection(operations[place].begun)
            self._open[place] = len(required)
            for earlier in required:
                self._later[earlier].append(place)
        self._under_way: dict[int, None] = {}
        """What was begun and not waited for, in this order."""
        self._at_once: list[tuple[int, int]] = []
        self._waiting: list[int] = []
        for place in places:
            if not self._open[place]:
                self._put(place)

    def calls(self) -> Iterator[GoalCall]:
        """All calls in their order."""
        place = self._next()
        undone = len(self._open)
        while place is not None:
            yield from self._wait(
                [begun for begun in self._under_way if begun in self._after[place]]
            )
            undone -= 1
            is_message = self._operations[place].kind != CALCULATE
            if is_message:
                self._under_way[place] = None
            for later in self._later[place]:
                self._open[later] -= 1
                if not self._open[later]:
                    self._put(later)
            following = self._next()
            is_required = following is not None and place in self._after[following]
            if is_message and is_required:
                del self._under_way[place]
            yield GoalCall(BLOCK if is_required or not is_message else BEGIN, (place,))
            place = following
        if undone:
            raise Circle
        yield from self._wait(list(self._under_way))

    def _wait(self, places: Sequence[int]) -> Iterator[GoalCall]:
        """Wait for some: for all at once, else for the receives, and for each send."""
        if places and len(places) == len(self._under_way):
            yield GoalCall(WAIT, tuple(places), ends_all=True)
        else:
            kinds = [self._operations[place].kind for place in places]
            received = [p for p, kind in zip(places, kinds, strict=True) if kind == RECEIVE]
            if received:
                yield GoalCall(WAIT, tuple(received))
            for place, kind in zip(places, kinds, strict=True):
                if kind != RECEIVE:
                    yield GoalCall(WAIT, (place,))
        for place in places:
            del self._under_way[place]

    def _put(self, place: int) -> None:
        """An operation has all that it requires, but for waits."""
        if any(required in self._under_way for required in self._after[place]):
            heapq.heappush(self._waiting, place)
        else:
            heapq.heappush(self._at_once, (_FIRST[self._operations[place].kind], place))

    def _next(self) -> int | None:
        """What needs no wait, else the first of what does."""
        if self._at_once:
            return heapq.heappop(self._at_once)[1]
        return heapq.heappop(self._waiting) if self._waiting else None
