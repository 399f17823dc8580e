# SPDX-License-Identifier: Apache-2.0
"""One launch: the processes are started and asked point by point."""

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
"""Points that are worth the start of another process."""
WITHIN = 1 / 3
"""Samples of a launch agree by this part of the precision that is asked for over launches."""


@dataclass(frozen=True)
class _Asking:
    """The processes of one launch of a start; this many questions may be under way at once."""

    processes: Processes
    start: Start
    launch: int
    at_once: int


@dataclass(frozen=True)
class _Asked:
    """A question under way: since when, and for how long the point may be sampled."""

    position: int
    point: Point
    group: Group
    slice_s: float
    asked_s: float


@dataclass(frozen=True)
class Launching:
    """Measures all that one launch of a start still has to measure."""

    agenda: Agenda
    order: Order
    stopping: Stopping
    retries: Retries
    starting: Starting
    records: Records

    def launch(self, start: Start, launch: int) -> None:
        """Start the processes and measure every point of this launch; again where they died."""
        subject = self.starting.subjects[start.subject]
        for attempt in self.retries.attempts(start):
            if self.stopping.spent(launch):
                return
            todo = self.order.todo(start, launch)
            if not todo:
                return
            with self.stopping.launch(start, launch), attempt:
                doing = f"starting launch {launch + 1}"
                many = self._at_once(subject, todo)
                with self.starting.processes(start, doing, launch, many) as processes:
                    advice = self.starting.introduce(processes.launch, start, launch)
                    asking = _Asking(processes, start, launch, many)
                    for answer in self._answers(asking, todo):
                        self.records.point(subject, launch, answer, advice)

    def _at_once(self, subject: Subject, todo: list[Point]) -> int:
        """How many points are asked for at once: as many processes have to be worth their start."""
        return max(1, min(subject.at_once, len(todo) // POINTS_EACH))

    def _answers(self, asking: _Asking, todo: list[Point]) -> Iterator[Answer]:
        """Ask for every point; an answer is handed out while the next point is running.

        What the front end does with an answer then happens while ranks verify and warm up, and
        the machine is not idle between points. Where ranks leave it no core it would disturb them:
        then an answer is handed out before the next point is asked for.
        """
        start, launch = asking.start, asking.launch
        apart = leaves_a_core(asking.processes.launch)
        asked: deque[_Asked] = deque()
        answer: Answer | None = None
        for position, point in enumerate(todo):
            if len(asked) == asking.at_once:
                answer = self._answer(asking, asked.popleft())
                if not apart:
                    yield answer
                    answer = None
            if not self.stopping.before_point(launch, position):
                break
            block = self.agenda.wanted(start, launch, point)
            if block is None:
                continue
            group = Group(block, start.ranks)
            slice_s = self.stopping.slice_s(group, launch)
            asked.append(_Asked(position, point, group, slice_s, time.monotonic()))
            try:
                asking.processes.send(self._question(start, position, point, block, slice_s))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
        if answer is not None:
            yield answer
        for each in asked:
            yield self._answer(asking, each)

    def _question(
        self, start: Start, position: int, point: Point, block: int, slice_s: float
    ) -> str:
        """A point as the probe is asked for it; its position is its name in this launch."""
        info = self.starting.subjects[start.subject].infos[point.pattern]
        precision = WITHIN * self.agenda.plan.precision_of(self.agenda.plan.blocks[block])
        return line(str(position), point, slice_s, precision, info.timing)

    def _answer(self, asking: _Asking, asked: _Asked) -> Answer:
        """What the probe says of a point; who ends a launch is remembered."""
        timeout_s = self.agenda.plan.timeout_s + 50 * asked.slice_s
        try:
            said = asking.processes.receive(timeout_s, identity=str(asked.position))
        except LaunchError as error:
            subject = self.starting.subjects[asking.start.subject]
            self.retries.suspect(subject, asked.point, error)
            raise
        self.retries.answered(asking.start)
        spent_s = time.monotonic() - asked.asked_s
        self.stopping.answered(asked.group, asking.launch, spent_s, asked.slice_s)
        return Answer(asked.position, asked.point, said)
