# SPDX-License-Identifier: Apache-2.0
"""One launch: the processes are started and asked point by point."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.measure.loop.free_cores import leaves_a_core
from nhalf.measure.loop.order import Order
from nhalf.measure.loop.question import line
from nhalf.measure.loop.records import Answer, Records
from nhalf.measure.loop.retry import Retries
from nhalf.measure.loop.starting import Processes, Starting
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import Group
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import LaunchError

WITHIN = 1 / 3
"""Samples of a launch agree by this part of the precision that is asked for over launches."""


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
                with self.starting.processes(start, doing, launch) as processes:
                    advice = self.starting.introduce(processes.launch, start, launch)
                    for answer in self._answers(processes, start, launch, todo):
                        self.records.point(subject, launch, answer, advice)

    def _answers(
        self, processes: Processes, start: Start, launch: int, todo: list[Point]
    ) -> Iterator[Answer]:
        """Ask for every point; an answer is handed out while the next point is running.

        What the front end does with an answer then happens while ranks verify and warm up, and
        the machine is not idle between points. Where ranks leave it no core it would disturb them:
        then an answer is handed out before the next point is asked for.
        """
        apart = leaves_a_core(processes.launch)
        answer: Answer | None = None
        for position, point in enumerate(todo):
            if not self.stopping.before_point(launch, position):
                break
            block = self.agenda.wanted(start, launch, point)
            if block is None:
                continue
            group = Group(block, start.ranks)
            slice_s = self.stopping.slice_s(group, launch)
            asked_s = time.monotonic()
            try:
                processes.send(self._question(start, position, point, block, slice_s))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
            answer = self._answer(processes, start, position, point, slice_s)
            self.stopping.answered(group, launch, time.monotonic() - asked_s, slice_s)
            if not apart:
                yield answer
                answer = None
        if answer is not None:
            yield answer

    def _question(
        self, start: Start, position: int, point: Point, block: int, slice_s: float
    ) -> str:
        """A point as the probe is asked for it; its position is its name in this launch."""
        info = self.starting.subjects[start.subject].infos[point.pattern]
        precision = WITHIN * self.agenda.plan.precision_of(self.agenda.plan.blocks[block])
        return line(str(position), point, slice_s, precision, info.timing)

    def _answer(
        self, processes: Processes, start: Start, position: int, point: Point, slice_s: float
    ) -> Answer:
        """What the probe says of a point; who ends a launch is remembered."""
        timeout_s = self.agenda.plan.timeout_s + 50 * slice_s
        try:
            said = processes.receive(timeout_s, identity=str(position))
        except LaunchError as error:
            self.retries.suspect(self.starting.subjects[start.subject], point, error)
            raise
        self.retries.answered(start)
        return Answer(position, point, said)
