# SPDX-License-Identifier: Apache-2.0
"""Launches beyond the plan: a budget that is not spent is used where the precision is missed."""

from __future__ import annotations

import polars as pl

from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point
from nhalf.statistics.flags import with_states
from nhalf.statistics.next_run import half_widths
from nhalf.store.keys import RUN_POINT


class Further:
    """Decides what one more launch is for."""

    def __init__(self, agenda: Agenda, stopping: Stopping) -> None:
        self._agenda = agenda
        self._stopping = stopping

    def asked(self) -> bool:
        """Put one more launch on the agenda; False if there is no need or no time for it.

        All libraries measure the same points, so that they can be compared launch by launch.
        """
        missed = sorted(self._missed().items(), key=lambda item: -item[1])
        points = self._stopping.fitting([point for point, _ in missed])
        if points:
            self._agenda.further[self._agenda.launches()] = frozenset(points)
        return bool(points)

    def _missed(self) -> dict[Point, float]:
        """Points that miss their precision on some library, and by which factor on the worst.

        A point with one launch in the state of the machine that is reported of it misses it most.
        """
        targets, rows = self._launches()
        if not rows:
            return {}
        launches = pl.DataFrame(rows, schema_overrides={"flag_s": pl.Float64()})
        widths = half_widths(with_states(launches).filter("counts"), "number")
        found: dict[Point, float] = {}
        for number, half_width in widths.select("number", "half_width").iter_rows():
            point, target = targets[number]
            if half_width > target:
                found[point] = max(found.get(point, 0.0), half_width / target)
        return found

    def _launches(self) -> tuple[list[tuple[Point, float]], list[dict[str, object]]]:
        """Every point on every library with what it aims at, and the rows of their launches."""
        targets: list[tuple[Point, float]] = []
        rows: list[dict[str, object]] = []
        for start in self._agenda.starts():
            for point, block in self._agenda.points(start).items():
                target = self._target(block)
                measured = self._agenda.state.medians_s.get((start.subject, point), {})
                if not target or len(measured) < 2:
                    continue
                key = ("", "", start.subject, point.pattern, "", point.ranks, point.placement)
                known = dict(zip(RUN_POINT, (*key, point.axes, point.size_bytes), strict=True))
                rows += [
                    {**known, "launch": launch, "median_s": median_s, "flag_s": flag_s}
                    | {"number": len(targets)}
                    for launch, (median_s, flag_s) in measured.items()
                ]
                targets.append((point, target))
        return targets, rows

    def _target(self, number: int) -> float:
        """The half-width that a block aims at; 0 if it has one launch and so no interval."""
        plan = self._agenda.plan
        block = plan.blocks[number]
        return plan.precision_of(block) if plan.launches_of(block) > 1 else 0.0
