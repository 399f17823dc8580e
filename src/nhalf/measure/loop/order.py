# SPDX-License-Identifier: Apache-2.0
"""The order of launches and of the points in each: shuffled, so that no drift favours anybody."""

from __future__ import annotations

import random
from collections.abc import Callable

from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start


class Order:
    """What comes next; the same seed gives the same order."""

    def __init__(self, agenda: Agenda, seed: int, ended: Callable[[Start, Point], int]) -> None:
        """`ended` tells how many launches a point has ended."""
        self._agenda = agenda
        self._random = random.Random(seed)
        self._ended = ended

    def starts(self) -> list[Start]:
        """Every start, in a new order each time."""
        starts = self._agenda.starts()
        self._random.shuffle(starts)
        return starts

    def todo(self, start: Start, launch: int) -> list[Point]:
        """The points that a launch still has to measure, shuffled; those that ended one last.

        After them comes what ends every launch.
        """
        todo = self._agenda.todo(start, launch)
        self._random.shuffle(todo)
        infos = self._agenda.infos
        return sorted(
            todo,
            key=lambda point: (infos[point.pattern].ends_launch, self._ended(start, point)),
        )
