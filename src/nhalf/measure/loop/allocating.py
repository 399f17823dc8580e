"""How long points are sampled: learned from the first launches, and from every further one."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.allocation import (
    PILOT_LAUNCHES,
    PointCosts,
    Variances,
    VisitAllocation,
    best,
    samples_variance_s,
    variances_of,
)
from nhalf.measure.plan.budget import SLICE_MAX_S, SLICE_MIN_S
from nhalf.measure.plan.plan import Point, Start

PILOT = VisitAllocation(visits=2, slice_s=0.004)
"""What a point gets until variances are known: two visits tell those within a launch from those
between launches."""
SAMPLES_LEAST = 12
"""Fewer samples may all be disturbed (decide/compare.py)."""
LEARNED_MAX = 2000
"""Visits of a start from which the variance within one is learned."""
LEARNED_EVERY = 1.2
"""Variances are computed again after this factor of launches, since that takes longer with each."""


class Allocating:
    """Chooses visits and slices for the points of each start."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._seconds: dict[Start, list[tuple[float, float]]] = {}
        self._sample_s: dict[tuple[Start, Point], float] = {}
        self._variances: dict[Start, tuple[int, Variances | None]] = {}

    def learn(self, start: Start, point: Point, record: dict[str, Any]) -> None:
        """Learn from the answer to a visit."""
        samples_s = record.get("samples_s", [])
        messages = record.get("batch", 1) * record.get("messages_per_round", 1)
        seconds = sum(samples_s) * messages
        variance_s = samples_variance_s(samples_s, seconds)
        if samples_s:
            self._sample_s[start, point] = seconds / len(samples_s)
        learned = self._seconds.setdefault(start, [])
        if variance_s is not None and len(learned) < LEARNED_MAX:
            learned.append((variance_s, seconds))

    def effort(
        self, start: Start, launch: int, point: Point, costs: PointCosts, visits_max: int
    ) -> VisitAllocation:
        """Up to `visits_max` visits of a launch to a point, and how long each samples."""
        least_s = min(SLICE_MAX_S, SAMPLES_LEAST * self._sample_s.get((start, point), 0.0))
        pilot = VisitAllocation(min(PILOT.visits, visits_max), max(least_s, PILOT.slice_s))
        if launch < PILOT_LAUNCHES and start not in self._variances:
            return pilot
        learned_at, variances = self._variances.get(start, (0, None))
        if launch > LEARNED_EVERY * learned_at:
            variances = self._variances_of(start)
            # What a resumed run has not learned yet it asks for again at once.
            self._variances[start] = (launch if variances else 0, variances)
        if variances is None:
            return pilot
        return best(variances, costs, max(least_s, SLICE_MIN_S), SLICE_MAX_S, visits_max)

    def _variances_of(self, start: Start) -> Variances | None:
        learned = self._seconds.get(start, [])
        if not learned:
            return None
        sampling_variance_s = median(variance_s for variance_s, _ in learned)
        slice_s = median(seconds for _, seconds in learned)
        return variances_of(self._medians(start), sampling_variance_s, slice_s)

    def _medians(self, start: Start) -> Iterator[dict[int, list[float]]]:
        """The medians of visits of each point of a start, by launch."""
        visits = self._agenda.state.visits
        for point in self._agenda.points(start):
            by_launch: dict[int, list[float]] = {}
            for launch, median_s, _ in visits.get((start.subject, point), []):
                by_launch.setdefault(launch, []).append(median_s)
            yield by_launch
