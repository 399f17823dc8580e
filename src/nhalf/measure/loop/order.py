"""The order of launches and of the points in each: shuffled, so that drift favours no library."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start

Visit = TypeVar("Visit")


class Order:
    """Chooses the order of starts and points; the same seed gives the same order."""

    def __init__(self, agenda: Agenda, seed: int, ended: Callable[[Start, Point], int]) -> None:
        """Seed the order; `ended` returns how many launches a point has ended."""
        self._agenda = agenda
        self._random = random.Random(seed)
        self._ended = ended

    def starts(self) -> list[Start]:
        """Return every start, in a new order each time."""
        starts = self._agenda.starts()
        self._random.shuffle(starts)
        return starts

    def shuffled(self, visits: Sequence[Visit]) -> list[Visit]:
        """Return visits in a random order."""
        return self._random.sample(visits, len(visits))

    def todo(self, start: Start, launch: int) -> list[Point]:
        """Return the points that a launch still lacks, shuffled; those that ended one come last.

        They are followed by the patterns that always end their launch.
        """
        todo = self._agenda.todo(start, launch)
        self._random.shuffle(todo)
        infos = self._agenda.infos
        return sorted(
            todo,
            key=lambda point: (infos[point.pattern].ends_launch, self._ended(start, point)),
        )
