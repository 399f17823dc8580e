# SPDX-License-Identifier: Apache-2.0
"""One launch: start the processes and measure point by point."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.measure.loop.free_cores import leaves_a_core
from nhalf.measure.loop.order import Order
from nhalf.measure.loop.question import line
from nhalf.measure.loop.records import Answer, Records
from nhalf.measure.loop.retry import Retries
from nhalf.measure.loop.starting import Starting
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import Group
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.crew import Processes
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject

POINTS_EACH = 16
"""Points per process that make starting another one worthwhile."""
WITHIN = 1 / 3
"""Precision of the samples within a launch, relative to the precision requested over launches."""


@dataclass(frozen=True)
class _RunningLaunch:
    """The processes of one launch; up to `at_once` questions may be pending."""

    processes: Processes
    start: Start
    launch: int
    at_once: int


@dataclass(frozen=True)
class _Question:
    """A pending question: when it was sent, and for how long the point may be sampled."""

    position: int
    point: Point
    group: Group
    slice_s: float
    asked_s: float


@dataclass(frozen=True)
class Launching:
    """Measures every point that one launch of a start still lacks."""

    agenda: Agenda
    order: Order
    stopping: Stopping
    retries: Retries
    starting: Starting
    records: Records

    def launch(self, start: Start, launch: int) -> None:
        """Start the processes and measure every point of this launch; retry when they die."""
        subject = self.starting.subjects[start.subject]
        for attempt in self.retries.attempts(start):
            if self.stopping.spent(launch):
                return
            todo = self.order.todo(start, launch)
            if not todo:
                return
            with self.stopping.launch(start, launch), attempt:
                doing = f"starting launch {launch + 1} of {self.agenda.launches()}"
                many = self._at_once(subject, todo)
                with self.starting.processes(start, doing, launch, many) as processes:
                    advice = self.starting.introduce(processes.launch, start, launch)
                    running = _RunningLaunch(processes, start, launch, many)
                    for answer in self._answers(running, todo):
                        self.records.point(subject, launch, answer, advice)

    def _at_once(self, subject: Subject, todo: list[Point]) -> int:
        """Return how many points to measure at once: each needs a process worth starting."""
        return max(1, min(subject.at_once, len(todo) // POINTS_EACH))

    def _answers(self, running: _RunningLaunch, todo: list[Point]) -> Iterator[Answer]:
        """Ask for every point; yield each answer while the next point is running.

        The front end then processes an answer while ranks verify and warm up, so the machine is
        not idle between points. Where ranks leave no core free this would disturb them: then an
        answer is yielded before the next point is requested.
        """
        start, launch = running.start, running.launch
        has_free_core = leaves_a_core(running.processes.launch)
        questions: deque[_Question] = deque()
        answer: Answer | None = None
        for position, point in enumerate(todo):
            if len(questions) == running.at_once:
                answer = self._answer(running, questions.popleft())
                if not has_free_core:
                    yield answer
                    answer = None
            if not self.stopping.before_point(launch, position):
                break
            block = self.agenda.block_of(start, launch, point)
            if block is None:
                continue
            group = Group(block, start.ranks)
            slice_s = self.stopping.slice_s(group, launch)
            questions.append(_Question(position, point, group, slice_s, time.monotonic()))
            try:
                running.processes.send(self._question(start, position, point, block, slice_s))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
        if answer is not None:
            yield answer
        for question in questions:
            yield self._answer(running, question)

    def _question(
        self, start: Start, position: int, point: Point, block: int, slice_s: float
    ) -> str:
        """Return the request for a point as the probe reads it, identified by its position."""
        info = self.starting.subjects[start.subject].infos[point.pattern]
        precision = WITHIN * self.agenda.plan.precision_of(self.agenda.plan.blocks[block])
        return line(str(position), point, slice_s, precision, info.timing)

    def _answer(self, running: _RunningLaunch, question: _Question) -> Answer:
        """Return the probe's answer for a point; remember a point that ends the launch."""
        timeout_s = self.agenda.plan.timeout_s + 50 * question.slice_s
        try:
            record = running.processes.receive(timeout_s, identity=str(question.position))
        except LaunchError as error:
            subject = self.starting.subjects[running.start.subject]
            self.retries.suspect(subject, question.point, error)
            raise
        self.retries.answered(running.start)
        spent_s = time.monotonic() - question.asked_s
        self.stopping.answered(question.group, running.launch, spent_s, question.slice_s)
        return Answer(question.position, question.point, record)
