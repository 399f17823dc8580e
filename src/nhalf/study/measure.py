# SPDX-License-Identifier: Apache-2.0
"""The run loop: launches in shuffled, interleaved order, point by point, into the journal."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from nhalf.store.journal import Journal
from nhalf.store.run import Run
from nhalf.study.placement import placement_advice
from nhalf.study.plan import Budget, Plan, Point, budget_of
from nhalf.study.process import LaunchError, Probe
from nhalf.study.progress import Progress
from nhalf.study.refine import refine
from nhalf.study.sizes import parse_sizes
from nhalf.study.state import State
from nhalf.study.subject import Subject

FAILURES_MAX = 2
"""How often a launch may end at one point, or a subject that never answered may fail."""
FAILURES_IN_A_ROW_MAX = 6
"""Launches that may fail in a row, without any answer, of a subject that did answer before."""
SCOUT_SLICE_S = 0.004


@dataclass(frozen=True)
class Answer:
    """What a probe answered for a point, when in its launch and after how many seconds."""

    position: int
    point: Point
    record: dict[str, Any]
    spent_s: float


class Measuring:
    """One run in progress."""

    def __init__(
        self, run: Run, plan: Plan, subjects: Sequence[Subject], progress: Progress
    ) -> None:
        self.plan = plan
        self.subjects = list(subjects)
        self.progress = progress
        self.state = State()
        self.journal: Journal = run.journal()
        for event in run.events():
            self.state.note(event)
        self.random = random.Random(plan.seed)
        self.failures: Counter[str] = Counter()
        self.answered = {key for key, _, _ in self.state.done}
        self.suspects: Counter[tuple[str, Point]] = Counter()
        starts = plan.launches * len(self.subjects) * len(plan.ranks)
        curves = sum(len(set(plan.patterns) & set(s.patterns)) for s in self.subjects)
        sizes = len(parse_sizes(plan.bytes).size_bytes)
        self.budget = Budget(budget_of(plan, curves * len(plan.ranks), sizes), starts)

    def run(self) -> dict[str, str]:
        """Measure all that is not in the journal yet; the reasons of subjects that failed."""
        with self.journal:
            if parse_sizes(self.plan.bytes).adaptive:
                for subject, ranks in self._starts():
                    self._scout(subject, ranks)
            self.progress.total(sum(1 for _ in self._left()))
            for launch in range(self.plan.launches):
                for subject, ranks in self._starts():
                    self._launch(subject, ranks, launch)
        return self.state.failed

    def _starts(self) -> list[tuple[Subject, int]]:
        """Every subject and number of ranks, in a new order each time."""
        starts = [(s, r) for s in self.subjects for r in self.plan.ranks]
        self.random.shuffle(starts)
        return [(s, r) for s, r in starts if s.key not in self.state.failed]

    def _points(self, subject: Subject, ranks: int) -> list[Point]:
        """Every point of a subject."""
        coarse = parse_sizes(self.plan.bytes).size_bytes
        found = []
        for pattern in self.plan.patterns:
            if pattern not in subject.patterns:
                continue
            sizes = self.state.sizes.get((subject.key, pattern, ranks), coarse)
            found += [Point(pattern, ranks, size) for size in sizes]
        return [p for p in found if (subject.key, p) not in self.state.impossible]

    def _todo(self, subject: Subject, ranks: int, launch: int) -> list[Point]:
        """The points that a launch still has to measure, shuffled; those that ended one last."""
        points = self._points(subject, ranks)
        todo = [p for p in points if (subject.key, launch, p) not in self.state.done]
        self.random.shuffle(todo)
        return sorted(todo, key=lambda point: self.suspects[subject.key, point])

    def _left(self) -> Iterator[Point]:
        """Every point of every launch that is still to come."""
        for launch in range(self.plan.launches):
            for subject in self.subjects:
                if subject.key in self.state.failed:
                    continue
                for ranks in self.plan.ranks:
                    for point in self._points(subject, ranks):
                        if (subject.key, launch, point) not in self.state.done:
                            yield point

    def _launch(self, subject: Subject, ranks: int, launch: int) -> None:
        """Start the processes and measure every point of this launch; again where they died."""
        while subject.key not in self.state.failed and not self.budget.spent(launch):
            todo = self._todo(subject, ranks, launch)
            if not todo:
                return
            began_s = time.monotonic()
            points_s = 0.0
            try:
                with self._start(subject, ranks, f"starting launch {launch + 1}", launch) as probe:
                    advice = self._introduce(probe, subject, ranks, launch)
                    for answer in self._answers(probe, subject, todo, launch):
                        self._keep(subject, launch, advice, answer)
                        points_s += answer.spent_s
            except LaunchError as error:
                self._failed(subject, str(error))
            self.budget.launched(time.monotonic() - began_s - points_s)

    def _start(self, subject: Subject, ranks: int, doing: str, launch: int) -> Probe:
        """Start a subject's processes; each launch of a simulated machine has its own seed."""
        self.progress.say(f"{subject.title}  {doing}")
        options = self.plan.options
        simulated = any(option["name"] == "seed" for option in subject.description["options"])
        if simulated and "seed=" not in options:
            options = ",".join(filter(None, [options, f"seed={self.plan.seed * 1000 + launch}"]))
        tokens, variables = subject.launch(ranks, self.plan.placement, options)
        probe = Probe(tokens, variables, self.plan.timeout_s)
        started = probe.launch.get("ranks")
        if started != ranks:
            probe.kill()
            raise LaunchError(f"{started} ranks started together instead of {ranks}")
        return probe

    def _answers(
        self, probe: Probe, subject: Subject, todo: list[Point], launch: int
    ) -> Iterator[Answer]:
        """Ask for every point; an answer is handed out while the next point is running.

        What the front end does with an answer then happens while ranks verify and warm up, and
        the machine is not idle between points.
        """
        answer: Answer | None = None
        left = sum(1 for _ in self._left())
        for position, point in enumerate(todo):
            if self.budget.spent(launch):
                break
            slice_s = self.budget.slice_s(left - position)
            asked_s = time.monotonic()
            try:
                probe.send(_line(str(position), point, slice_s, self.plan.precision))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
            try:
                record = probe.receive(self.plan.timeout_s + 50 * slice_s, identity=str(position))
            except LaunchError as error:
                self._suspect(subject, point, str(error))
                raise
            self._answered(subject)
            spent_s = time.monotonic() - asked_s
            self.budget.answered(spent_s, slice_s)
            answer = Answer(position, point, record, spent_s)
        if answer is not None:
            yield answer

    def _introduce(self, probe: Probe, subject: Subject, ranks: int, launch: int) -> list[str]:
        """Put the launch into the journal; the doubts about where its ranks are."""
        placement = probe.launch.get("placement", [])
        simulated = probe.launch.get("clock", {}).get("name") == "virtual"
        wanted = self.plan.placement == "cores" and not simulated
        advice = placement_advice(placement) if wanted else []
        self.journal.append(
            {
                "event": "launch",
                "subject": subject.key,
                "launch": launch,
                "ranks": ranks,
                "library": probe.launch.get("library", ""),
                "clock": probe.launch.get("clock", {}),
                "placement": placement,
                "advice": advice,
            }
        )
        return advice

    def _keep(self, subject: Subject, launch: int, advice: list[str], answer: Answer) -> None:
        """Put an answer into the journal, then show it."""
        point, record = answer.point, answer.record
        if record.get("nhalf") != "point":
            self._impossible(subject, point, str(record.get("message", "no answer")))
            return
        samples = record["samples_s"]
        self.journal.append(
            {
                "event": "point",
                "subject": subject.key,
                "transport": subject.transport,
                "mpi": subject.mpi,
                "pattern": point.pattern,
                "algorithm": "native",
                "ranks": point.ranks,
                "placement": self.plan.placement,
                "bytes": point.size_bytes,
                "launch": launch,
                "position": answer.position,
                "started_s": time.time() - record["elapsed_s"],
                "batch": record["batch"],
                "messages_per_round": record["messages_per_round"],
                "bytes_per_time": record["bytes_per_time"],
                "stop": record["stop"],
                "verified": record["verified"],
                "advice": sorted({*record["advice"], *advice}),
                "samples_s": samples,
            }
        )
        self.state.done.add((subject.key, launch, point))
        estimate_s = median(samples) if samples else None
        self.progress.point(subject.title, point.pattern, point.size_bytes, estimate_s)

    def _scout(self, subject: Subject, ranks: int) -> None:
        """Find the sizes at which the curves change, in one quick launch that is not reported.

        Where launches end at it, the curve keeps its coarse sizes.
        """
        for _ in range(FAILURES_MAX):
            patterns = [
                pattern
                for pattern in self.plan.patterns
                if pattern in subject.patterns
                and (subject.key, pattern, ranks) not in self.state.sizes
            ]
            if not patterns or subject.key in self.state.failed:
                return
            try:
                with self._start(subject, ranks, "looking for protocol changes", 0) as probe:
                    for pattern in patterns:
                        sizes = self._sizes(probe, subject, pattern, ranks)
                        self.state.sizes[subject.key, pattern, ranks] = sizes
                        event = {"event": "sizes", "subject": subject.key, "pattern": pattern}
                        self.journal.append({**event, "ranks": ranks, "sizes": sizes})
            except LaunchError as error:
                self._failed(subject, str(error))

    def _sizes(self, probe: Probe, subject: Subject, pattern: str, ranks: int) -> list[int]:
        """The coarse sizes and those that bracket the changes between them."""

        def measure(size_bytes: int) -> float | None:
            point = Point(pattern, ranks, size_bytes)
            if self.suspects[subject.key, point]:
                return None
            try:
                probe.send(_line("scout", point, SCOUT_SLICE_S, 0.02))
                record = probe.receive(self.plan.timeout_s, identity="scout")
            except LaunchError as error:
                self._suspect(subject, point, str(error))
                raise
            self._answered(subject)
            # The fastest sample: disturbances only ever add time.
            fastest_s = min(record.get("samples_s") or [0.0])
            return fastest_s if fastest_s > 0 else None

        coarse = parse_sizes(self.plan.bytes).size_bytes
        curve = {size: time_s for size in coarse if (time_s := measure(size)) is not None}
        return sorted({*coarse, *refine(curve, measure)})

    def _answered(self, subject: Subject) -> None:
        """A subject is alive."""
        self.answered.add(subject.key)
        self.failures[subject.key] = 0

    def _suspect(self, subject: Subject, point: Point, reason: str) -> None:
        """A launch ended while a point was running: after the second time it is left out."""
        self.suspects[subject.key, point] += 1
        if self.suspects[subject.key, point] >= FAILURES_MAX:
            self._impossible(subject, point, reason)

    def _impossible(self, subject: Subject, point: Point, reason: str) -> None:
        """Note a point that this subject cannot measure."""
        self.state.impossible.add((subject.key, point))
        self.journal.append(
            {
                "event": "failed",
                "subject": subject.key,
                "pattern": point.pattern,
                "ranks": point.ranks,
                "bytes": point.size_bytes,
                "reason": reason,
            }
        )

    def _failed(self, subject: Subject, reason: str) -> None:
        """Note a launch that failed; a subject that only fails is given up."""
        self.failures[subject.key] += 1
        limit = FAILURES_IN_A_ROW_MAX if subject.key in self.answered else FAILURES_MAX
        if self.failures[subject.key] >= limit:
            self.state.failed[subject.key] = reason


def _line(identity: str, point: Point, slice_s: float, precision: float) -> str:
    """A point as the probe reads it."""
    return (
        f"id={identity} pattern={point.pattern} bytes={point.size_bytes} "
        f"slice_s={slice_s:.6f} precision={precision:.6f}"
    )
