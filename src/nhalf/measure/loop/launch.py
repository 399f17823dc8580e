"""One launch: start the processes and measure point by point, those with enough time repeatedly.

Machines change their state for seconds at a time. A launch that spends its time on one point after
the other would see some sizes of a curve in one state and the rest in another; in short passes
over all points, in a shuffled order, it sees whole curves in each state that comes.
"""

import itertools
import os
import random
import resource
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from nhalf.measure.loop.expecting import Expecting
from nhalf.measure.loop.records import ProbeAnswer, Records, line
from nhalf.measure.loop.retry import Retries, Starting, is_virtual
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.budget import VISITS_MAX, Group
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Processes


def leaves_a_core(launch: Mapping[str, Any], host: str = "", cores: int = 0) -> bool:
    """Whether fewer ranks than cores are busy on this host, according to a launch's record.

    `host` and `cores` default to those of this process. Ranks bound to fewer cores than there are
    ranks leave the remaining cores free.
    """
    local_host = host or socket.gethostname()
    ranks = [rank for rank in launch.get("placement", []) if rank.get("host") == local_host]
    allowed = {core for rank in ranks for core in rank.get("allowed_cpus", [])}
    used = min(len(ranks), len(allowed)) if allowed else len(ranks)
    return used < (cores or len(os.sched_getaffinity(0)))


STAT = Path("/proc/stat")
BUSY = (1, 2, 3, 6, 7, 8)
"""Words of a line of a core: user, nice, system, interrupts, soft ones, and what the host of a
virtual machine took (proc(5))."""


def busy_ticks(text: str, cores: Iterable[int]) -> int:
    """The ticks of the clock that some cores were busy, from the text of /proc/stat.

    Raises ValueError or IndexError for another form.
    """
    names = {f"cpu{core}" for core in cores}
    rows = [words for words in map(str.split, text.splitlines()) if words and words[0] in names]
    if len(rows) < len(names):
        raise ValueError("a core is missing")
    return sum(int(row[place]) for row in rows for place in BUSY)


class OthersWatch:
    """Counts from its making: what was busy, less this process and its children that ended."""

    def __init__(self) -> None:
        self.allowed = len(os.sched_getaffinity(0))
        self._began = self._now()

    def cores(self) -> float | None:
        """The cores that others kept busy in the mean; None where the system does not tell."""
        began, now = self._began, self._now()
        if began is None or now is None or now[0] <= began[0]:
            return None
        seconds, busy_s, own_s = (end - begin for begin, end in zip(began, now, strict=True))
        return min(float(self.allowed), max(0.0, (busy_s - own_s) / seconds))

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        try:
            ticks = busy_ticks(STAT.read_text(), os.sched_getaffinity(0))
        except (OSError, ValueError, IndexError):
            return None
        usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        own_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), own_s


Visit = TypeVar("Visit")


class Order:
    """Chooses the order of starts and points; the same seed gives the same order."""

    def __init__(self, agenda: Agenda, seed: int, ended: Callable[[Start, Point], int]) -> None:
        """Seed the order; `ended` returns how many launches a point has ended."""
        self._agenda = agenda
        self._random = random.Random(seed)
        self._ended = ended

    def starts(self) -> list[Start]:
        """Return every start, in a new order each time."""
        starts = self._agenda.starts()
        self._random.shuffle(starts)
        return starts

    def shuffled(self, visits: Sequence[Visit]) -> list[Visit]:
        """Return visits in a random order."""
        return self._random.sample(visits, len(visits))

    def todo(self, start: Start, launch: int) -> list[Point]:
        """Return the points that a launch still lacks, shuffled; those that ended one come last.

        They are followed by the patterns that always end their launch.
        """
        todo = self._agenda.todo(start, launch)
        self._random.shuffle(todo)
        infos = self._agenda.infos
        return sorted(
            todo, key=lambda point: (infos[point.pattern].ends_launch, self._ended(start, point))
        )


POINTS_EACH = 16
"""Points per process that make starting another one worthwhile."""
PATIENCE = 3.0
"""How many times as long as expected a point may take beyond the timeout."""
ROUNDING = 1e-9
"""Samples of a deterministic clock differ by no larger share."""
WITHIN = 1 / 3
"""Precision of the samples within a launch, relative to the precision requested over launches."""


@dataclass(frozen=True)
class _RunningLaunch:
    """The processes of one launch; up to `at_once` questions may be pending.

    `exact` are the points whose samples are equal: another visit would add nothing.
    """

    processes: Processes
    start: Start
    launch: int
    at_once: int
    exact: set[Point] = field(default_factory=set)


@dataclass(frozen=True)
class _Visit:
    """One visit to a point, of `visits` in its launch, and for how long it may be sampled."""

    point: Point
    block: int
    slice_s: float
    visits: int
    is_first: bool = True


@dataclass(frozen=True)
class _Question:
    """A pending question: a visit, and when it was requested."""

    position: int
    visit: _Visit
    group: Group
    asked_s: float


@dataclass(frozen=True)
class LaunchMeasurement:
    """Measures every point that one launch of a start still lacks."""

    agenda: Agenda
    order: Order
    stopping: Stopping
    retries: Retries
    starting: Starting
    records: Records
    expecting: Expecting

    def launch(self, start: Start, launch: int) -> None:
        """Start the processes and measure every point of this launch; retry when they die."""
        subject = self.starting.subjects[start.subject]
        for attempt in self.retries.attempts(start):
            if self.stopping.spent(launch):
                return
            todo = self.order.todo(start, launch)
            if not todo:
                return
            watch = OthersWatch()
            with self.stopping.launch(start, launch), attempt:
                number = f"launch {launch + 1} of {self.agenda.launches()}"
                # Each needs a process worth starting.
                many = max(1, min(subject.at_once, len(todo) // POINTS_EACH))
                expected_s = self.expecting.launch_s(start, todo)
                words = self.expecting.launch_in_words(start, todo)
                waiting = self.records.progress.waiting(f"{number}: {words}", expected_s)
                with (
                    self.starting.processes(start, f"starting {number}", launch, many) as processes,
                    waiting,
                ):
                    advice = self.starting.introduce(processes.launch, start, launch)
                    running = _RunningLaunch(processes, start, launch, many)
                    for answer in self._answers(running, todo):
                        self.records.point(subject, launch, answer, advice)
                self._note_others(watch, running)

    def _note_others(self, watch: OthersWatch, running: _RunningLaunch) -> None:
        """Record what others took, where all ranks were children of this process, which ended."""
        if is_virtual(running.processes.launch) or self.starting.hosts(running.start):
            return
        cores = watch.cores()
        if cores is not None:
            self.records.others(running.start, running.launch, cores, watch.allowed)

    def _answers(self, running: _RunningLaunch, todo: list[Point]) -> Iterator[ProbeAnswer]:
        """Ask for every point; yield each answer while the next point is running.

        The front end then processes an answer while ranks verify and warm up, so the machine is
        not idle between points. Where ranks leave no core free this would disturb them: then an
        answer is yielded before the next point is requested.
        """
        start = running.start
        has_free_core = leaves_a_core(running.processes.launch)
        questions: deque[_Question] = deque()
        answer: ProbeAnswer | None = None
        visits = self._visits(running, todo)
        for position in itertools.count():
            if len(questions) == running.at_once:
                answer = self._answer(running, questions.popleft())
                if not has_free_core:
                    yield answer
                    answer = None
            # What is left of the time, and so the next visit, depends on the answer.
            visit = next(visits, None)
            if visit is None:
                break
            group = Group(visit.block, start.ranks)
            questions.append(_Question(position, visit, group, time.monotonic()))
            try:
                running.processes.send(self._question(start, position, visit))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
        if answer is not None:
            yield answer
        for question in questions:
            yield self._answer(running, question)

    def _visits(self, running: _RunningLaunch, todo: list[Point]) -> Iterator[_Visit]:
        """Yield the visits of a launch while there is time: all points first, then some again."""
        start, launch = running.start, running.launch
        first_visits: list[_Visit] = []
        for position, point in enumerate(todo):
            if not self.stopping.before_point(launch, position):
                return
            block = self.agenda.block_of(start, launch, point)
            if block is None:
                continue
            subject = self.starting.subjects[start.subject]
            info = subject.infos[point.pattern]
            # A kernel runs once, and some points end the launch.
            may_revisit = not (
                subject.is_exact or info.is_kernel or info.ends_launch
            ) and not self.retries.ended(start, point)
            effort = self.stopping.effort(start, launch, point, block, may_revisit)
            first_visits.append(_Visit(point, block, *effort))
            yield first_visits[-1]
        for number in range(1, VISITS_MAX):
            again = [visit for visit in first_visits if visit.visits > number]
            for visit in self.order.shuffled(again):
                if not self.stopping.before_further_visit():
                    return
                is_impossible = (start.subject, visit.point) in self.agenda.state.impossible
                if not is_impossible and visit.point not in running.exact:
                    yield replace(visit, is_first=False)

    def _question(self, start: Start, position: int, visit: _Visit) -> str:
        """Return the request for a visit as the probe reads it, identified by its position."""
        info = self.starting.subjects[start.subject].infos[visit.point.pattern]
        precision = WITHIN * self.agenda.plan.precision_of(self.agenda.plan.blocks[visit.block])
        return line(str(position), visit.point, visit.slice_s, precision, info.timing, visit.visits)

    def _answer(self, running: _RunningLaunch, question: _Question) -> ProbeAnswer:
        """Return the probe's answer for a point; remember a point that ends the launch."""
        visit = question.visit
        expected_s = self.expecting.point_s(running.start, visit.point)
        timeout_s = self.agenda.plan.timeout_s + 50 * visit.slice_s + PATIENCE * expected_s
        try:
            record = running.processes.receive(timeout_s, identity=str(question.position))
        except LaunchError as error:
            subject = self.starting.subjects[running.start.subject]
            self.retries.suspect(subject, visit.point, error)
            raise
        self.retries.answered(running.start)
        if is_exact(record.get("samples_s", [])):
            running.exact.add(visit.point)
        self.stopping.sampled(running.start, visit.point, record)
        spent_s = time.monotonic() - question.asked_s
        self.expecting.answered(running.start, visit.point, record, spent_s)
        if visit.is_first:
            effort = (spent_s, visit.slice_s, visit.visits)
            self.stopping.answered(question.group, running.launch, *effort)
        else:
            self.stopping.revisited(spent_s)
        return ProbeAnswer(question.position, visit.point, record)


def is_exact(samples_s: Sequence[float]) -> bool:
    """Whether several samples are equal but for rounding, as those of a deterministic clock."""
    if len(samples_s) < 2:
        return False
    return max(samples_s) - min(samples_s) <= ROUNDING * max(samples_s)
