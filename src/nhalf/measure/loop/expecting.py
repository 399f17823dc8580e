"""How long launches of kernels will take: announced before they begin, from rates met so far."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nhalf.base.listing import few
from nhalf.measure.loop.records import Records, line
from nhalf.measure.loop.retry import CannotStartError, Starting, is_virtual
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import (
    LAUNCH_COST_S,
    LONG_S,
    RUNS,
    SLOW_RATE,
    KernelRates,
    Rate,
    launch_in_words,
    plan_in_words,
    trial_class,
)
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import LaunchError
from nhalf.store.keys import parse_axes

CLASS = "class"
TRACING = "NHALF_TRACE_FOLDER"
"""The variable of programs that are traced: a trace is of the first one, not of a trial."""
PRECISION, SLICE_S = 0.5, 0.01
"""Effort of a trial, which is one run."""
TITLES_MAX = 3
"""Kernels that a line names."""


@dataclass(frozen=True)
class Expecting:
    """Knows the rates of kernels, tries small classes where it does not, and announces times."""

    agenda: Agenda
    starting: Starting
    records: Records
    rates: KernelRates

    def remember(self) -> None:
        """Learn the rates of points that the journal of a resumed run holds."""
        for (subject, point), visits in self.records.state.visits.items():
            start = Start(subject, point.ranks, point.placement)
            operations = self._operations(point)
            for _, median_s, _ in visits:
                if operations and median_s > 0:
                    self.rates.learn(point.pattern, Rate(start, operations, operations / median_s))

    def announce(self, budget_s: float) -> None:
        """Say how long the plan takes; run small classes before where no rate is known."""
        if not any(info.operations for info in self.agenda.infos.values()):
            return
        launches = [
            (start, points)
            for launch in range(self.agenda.launches())
            for start in self.agenda.starts()
            if (points := self.agenda.todo(start, launch))
        ]
        unknown = {} if os.environ.get(TRACING) else self._unknown(launches)
        for start, points in unknown.items():
            if any(self._seconds(start, point) is None for point in points):
                with suppress(LaunchError, CannotStartError):
                    self._try(start, points)
        expected = [self.launch_s(start, points) for start, points in launches]
        times_s = [expected_s for expected_s in expected if expected_s > 0]
        if times_s:
            words = plan_in_words(sum(times_s), len(times_s), max(times_s), budget_s)
            self.records.progress.tell(words)

    def launch_s(self, start: Start, points: Iterable[Point]) -> float:
        """Return the seconds of a launch; 0 where no rate is known."""
        seconds = [self._seconds(start, point) or 0.0 for point in points]
        return sum(seconds) + LAUNCH_COST_S if any(seconds) else 0.0

    def launch_in_words(self, start: Start, points: Iterable[Point]) -> str:
        """Announce a launch that takes long; '' for a short one."""
        listed = list(points)
        expected_s = self.launch_s(start, listed)
        if expected_s < LONG_S:
            return ""
        kernels = list(dict.fromkeys(map(_name, listed)))
        title = self.starting.subjects[start.subject].title
        return launch_in_words(title, start.ranks, few(kernels, TITLES_MAX), expected_s)

    def point_s(self, start: Start, point: Point) -> float:
        """Return the seconds of a point; 0 if unknown."""
        return self._seconds(start, point) or 0.0

    def answered(self, start: Start, point: Point, record: dict[str, Any], spent_s: float) -> None:
        """Learn from an answer, which took `spent_s` seconds with all preparation."""
        operations, runs = self._operations(point), len(record.get("samples_s", []))
        if operations and runs and spent_s > 0:
            self.rates.learn(point.pattern, Rate(start, operations, operations * runs / spent_s))

    def _unknown(self, launches: list[tuple[Start, list[Point]]]) -> dict[Start, list[Point]]:
        """Return the starts with kernels of unknown rate that may take long, with these kernels."""
        unknown: dict[Start, list[Point]] = {}
        for start, points in launches:
            long_points = [
                point
                for point in points
                if RUNS * self._operations(point) > LONG_S * SLOW_RATE
                and self._seconds(start, point) is None
            ]
            if long_points:
                unknown.setdefault(start, long_points)
        return unknown

    def _try(self, start: Start, points: list[Point]) -> None:
        """Run a small class of each kernel once, which is not reported."""
        smallest: dict[str, float] = {}
        for point in points:
            operations = self._operations(point)
            smallest[point.pattern] = min(operations, smallest.get(point.pattern, operations))
        with self.starting.processes(start, "estimating how long it takes", 0) as processes:
            for pattern, least in smallest.items():
                operations_by_class = self.agenda.infos[pattern].operations
                name = trial_class(operations_by_class, least)
                if not name or not self.agenda.infos[pattern].runs_on(start.ranks, name):
                    continue
                point = Point(pattern, start.ranks, 0, start.placement, f"{CLASS}={name}")
                began_s = time.monotonic()
                question = line("trial", point, SLICE_S, PRECISION, "")
                processes.send(f"{question} samples_max=1")
                record = processes.receive(self.agenda.plan.timeout_s, identity="trial")
                run_s = time.monotonic() - began_s
                if not is_virtual(processes.launch):
                    run_s = min(record.get("samples_s") or [0.0])
                if record.get("nhalf") == "point" and run_s > 0:
                    operations = self._operations(point)
                    self.rates.learn(pattern, Rate(start, operations, operations / run_s))

    def _seconds(self, start: Start, point: Point) -> float | None:
        return self.rates.point_s(point.pattern, start, self._operations(point))

    def _operations(self, point: Point) -> float:
        """Return the operations of a run of a point's kernel; 0 if they are unknown."""
        info = self.agenda.infos.get(point.pattern)
        if info is None or not info.operations:
            return 0.0
        return info.operations.get(parse_axes(point.axes).get(CLASS, ""), 0.0)


def _name(point: Point) -> str:
    """A kernel with its class, in the usual notation: cg.A."""
    kernel = point.pattern.rpartition("-")[2]
    return f"{kernel}.{parse_axes(point.axes).get(CLASS, '')}"
