# SPDX-License-Identifier: Apache-2.0
"""Launches beyond the plan: a budget that is not spent is used where the precision is missed."""

from __future__ import annotations

import numpy as np

from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point
from nhalf.statistics.intervals import launch_interval


class Further:
    """Decides what one more launch is for."""

    def __init__(self, agenda: Agenda, stopping: Stopping) -> None:
        self._agenda = agenda
        self._stopping = stopping

    def asked(self) -> bool:
        """Put one more launch on the agenda; False where there is no need or no time for it.

        All libraries measure the same points, so that they can be compared launch by launch.
        """
        missed = sorted(self._missed().items(), key=lambda item: -item[1])
        points = self._stopping.fitting([point for point, _ in missed])
        if points:
            self._agenda.further[self._agenda.launches()] = frozenset(points)
        return bool(points)

    def _missed(self) -> dict[Point, float]:
        """Points that miss their precision on some library, and by which factor on the worst."""
        found: dict[Point, float] = {}
        for start in self._agenda.starts():
            for point, number in self._agenda.points(start).items():
                target = self._target(number)
                medians_s = self._agenda.state.medians_s.get((start.subject, point), {})
                if target and len(medians_s) > 1:
                    times_s = np.array(list(medians_s.values()))
                    factor = launch_interval(times_s).half_width / target
                    if factor > 1:
                        found[point] = max(found.get(point, 0.0), factor)
        return found

    def _target(self, number: int) -> float:
        """The half-width that a block aims at; 0 where it has one launch and so no interval."""
        plan = self._agenda.plan
        block = plan.blocks[number]
        return plan.precision_of(block) if plan.launches_of(block) > 1 else 0.0
