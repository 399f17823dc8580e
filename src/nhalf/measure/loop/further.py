"""Launches beyond the plan: unspent budget goes to points that miss their precision."""

from __future__ import annotations

import polars as pl

from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point
from nhalf.statistics.flags import with_states
from nhalf.statistics.next_run import half_widths
from nhalf.store.keys import RUN_POINT

UNREACHED = 1e-9
"""Half-width that no measured interval has."""
JUDGED_EVERY = 1.1
"""Intervals are computed again after this factor of launches, since that takes longer with each."""


class Further:
    """Decides which points one more launch measures."""

    def __init__(self, agenda: Agenda, stopping: Stopping) -> None:
        self._agenda = agenda
        self._stopping = stopping
        self._missing: list[Point] = []
        self._judged_at = 0

    def add_launch(self) -> bool:
        """Add one more launch to the agenda; False if there is no need or no time for it.

        All libraries measure the same points, so that they can be compared launch by launch.
        """
        if all(subject.is_exact for subject in self._agenda.subjects):
            return False
        launches = self._agenda.launches()
        if launches >= JUDGED_EVERY * self._judged_at:
            missed = sorted(self._missed().items(), key=lambda item: -item[1])
            self._missing, self._judged_at = [point for point, _ in missed], launches
        points = self._stopping.fitting(self._missing)
        if points:
            self._agenda.further[launches] = frozenset(points)
        return bool(points)

    def _missed(self) -> dict[Point, float]:
        """Return the points that miss their precision, with the factor on the worst library.

        A point with a single launch in the machine state that is reported for it has the largest
        factor.
        """
        targets, rows = self._visits()
        if not rows:
            return {}
        visits = pl.DataFrame(rows, schema_overrides={"flag_s": pl.Float64()})
        reported = with_states(visits).filter("counts")
        launches = reported.group_by([*RUN_POINT, "number", "launch"], maintain_order=True)
        widths = half_widths(launches.agg(pl.col("median_s").median()), "number")
        excess_factors: dict[Point, float] = {}
        for number, half_width in widths.select("number", "half_width").iter_rows():
            point, target = targets[number]
            if half_width > target:
                excess_factors[point] = max(excess_factors.get(point, 0.0), half_width / target)
        return excess_factors

    def _visits(self) -> tuple[list[tuple[Point, float]], list[dict[str, object]]]:
        """Return every point on every library with its target, and the rows of its visits."""
        targets: list[tuple[Point, float]] = []
        rows: list[dict[str, object]] = []
        for start in self._agenda.starts():
            for point, block in self._agenda.points(start).items():
                target = self._target(block)
                visits = self._agenda.state.visits.get((start.subject, point), [])
                if not target or len({launch for launch, _, _ in visits}) < 2:
                    continue
                key = ("", "", start.subject, point.pattern, "", point.ranks, point.placement)
                point_key = (*key, point.axes, point.size_bytes)
                point_columns = dict(zip(RUN_POINT, point_key, strict=True))
                rows += [
                    {**point_columns, "launch": launch, "median_s": median_s, "flag_s": flag_s}
                    | {"number": len(targets)}
                    for launch, median_s, flag_s in visits
                ]
                targets.append((point, target))
        return targets, rows

    def _target(self, number: int) -> float:
        """Return the half-width a block aims at; 0 with one launch, which gives no interval.

        Curves that a run goes on for are measured until its time is up.
        """
        plan = self._agenda.plan
        block = plan.blocks[number]
        if plan.launches_of(block) == 1:
            return 0.0
        return UNREACHED if self._agenda.state.pursued else plan.precision_of(block)
