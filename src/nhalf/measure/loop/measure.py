# SPDX-License-Identifier: Apache-2.0
"""The run loop: launches in shuffled, interleaved order, point by point, into the journal."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict

from nhalf.base.errors import NhalfError
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.state import State
from nhalf.measure.loop.time_limit import UNLIMITED, TimeLimit
from nhalf.measure.plan.agenda import Agenda, Family
from nhalf.measure.plan.algorithm import split
from nhalf.measure.plan.budget import LAUNCHES_MIN, Budget, Group, curve_budget
from nhalf.measure.plan.plan import Plan, Point, Start
from nhalf.measure.plan.refine import refine
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject
from nhalf.sites.health import Examiner, unanswered
from nhalf.sites.placement import FREE, placement_advice
from nhalf.sites.site import HERE, Site
from nhalf.store.journal import Journal
from nhalf.store.record import Identity, Record, event, named_values
from nhalf.store.run import Run

FAILURES_MAX = 2
"""How often a launch may end at one point, or a start that never answered may fail."""
FAILURES_IN_A_ROW_MAX = 6
"""Launches that may fail in a row, without any answer, of a start that did answer before."""
TROUBLES_TOLD = 4
SCOUT_SLICE_S = 0.004
SCOUT_SHARE = 0.2
"""Looking for protocol changes takes this share of a given budget at most."""
SHORT_SLICE_S = 0.005
"""In less, operations that are timed one by one are sampled three times only."""
POINTS_BETWEEN_LOOKS = 32
"""So many points are measured between two looks at the time that is left."""


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
        self,
        run: Run,
        plan: Plan,
        subjects: Sequence[Subject],
        progress: Progress,
        site: Site = HERE,
        limit: TimeLimit = UNLIMITED,
    ) -> None:
        self.plan = plan
        self.path = run.path
        self.limit = limit
        self.subjects = {subject.key: subject for subject in subjects}
        self.progress = progress
        first = plan.blocks[0].placements[0] if plan.blocks else FREE
        self.state = State(placement=first)
        self.journal: Journal = run.journal()
        for known in run.events():
            self.state.note(known)
        self.site = self._living(site)
        self.troubles: list[str] = []
        self.random = random.Random(plan.seed)
        self.failures: Counter[Start] = Counter()
        self.answered = {Start(key, p.ranks, p.placement) for key, _, p in self.state.done}
        self.suspects: Counter[tuple[str, Point]] = Counter()
        self.agenda = Agenda(plan, subjects, self.state)
        self.budget = Budget(
            plan.budget_s or self._default_budget_s(),
            [block.weight for block in plan.blocks],
            site.cores,
        )

    def run(self) -> dict[str, str]:
        """Measure all that is not in the journal yet; the reasons of what could not be started."""
        with self.journal:
            self._refuse_what_hosts_cannot()
            self._keep_to_budget()
            for start in self._starts():
                self._scout(start)
            self._keep_to_budget()
            points = self.agenda.left().total()
            if points:
                self.journal.append({"event": "planned", "points": points})
            self.progress.total(points)
            for launch in range(self.agenda.launches()):
                for start in self._starts():
                    self._launch(start, launch)
        refused = {
            f"{self.subjects[key].title} with {ranks} ranks, placement {placement}": reason
            for (key, ranks, placement), reason in self.state.refused.items()
            if key not in self.state.failed
        }
        return self.state.failed | refused

    def troubles_in_words(self) -> list[str]:
        """The launches that ended early, a line for each reason, the first few."""
        counts = Counter(self.troubles).most_common(TROUBLES_TOLD)
        return [f"{reason} ({number} times)" if number > 1 else reason for reason, number in counts]

    def _default_budget_s(self) -> float:
        """Seconds for a run that was given no budget: so many for each of its curves."""
        return sum(
            curve_budget(self.agenda.thinned[family.block].launches, len(family.sizes), bool(axes))
            for start in self.agenda.starts()
            for family in self.agenda.families(start)
            for axes in family.axes
        )

    def _keep_to_budget(self) -> None:
        """Count what is to come; where a budget was given and does not do, leave points out."""
        self.agenda.changed()
        if self.plan.budget_s:
            self.agenda.thin(self.budget)
        else:
            self.budget.count(self.agenda.left())

    def _starts(self) -> list[Start]:
        """Every start, in a new order each time."""
        starts = self.agenda.starts()
        self.random.shuffle(starts)
        return starts

    def _todo(self, start: Start, launch: int) -> list[Point]:
        """The points that a launch still has to measure, shuffled; those that ended one last."""
        todo = self.agenda.todo(start, launch)
        self.random.shuffle(todo)
        return sorted(todo, key=lambda point: self.suspects[start.subject, point])

    def _launch(self, start: Start, launch: int) -> None:
        """Start the processes and measure every point of this launch; again where they died."""
        subject = self.subjects[start.subject]
        while start in self.agenda.starts() and not self.budget.spent(launch):
            todo = self._todo(start, launch)
            if not todo:
                return
            self.limit.check(self.path)
            self.budget.begun(start, launch)
            self._keep_to_budget()
            began_s = time.monotonic()
            points_s = 0.0
            try:
                with self._start(start, f"starting launch {launch + 1}", launch) as probe:
                    advice = self._introduce(probe, start, launch)
                    for answer in self._answers(probe, start, todo, launch):
                        self._keep(subject, launch, advice, answer)
                        points_s += answer.spent_s
            except LaunchError as error:
                self._failed(start, error)
            self.budget.launched(time.monotonic() - began_s - points_s)

    def _start(self, start: Start, doing: str, launch: int) -> Probe:
        """Start a subject's processes; each launch of a simulated machine has its own seed."""
        subject = self.subjects[start.subject]
        self.progress.say(f"{subject.title}  {doing}")
        options = self.plan.options
        simulated = any(option["name"] == "seed" for option in subject.description["options"])
        if simulated and "seed=" not in options:
            options = ",".join(filter(None, [options, f"seed={self.plan.seed * 1000 + launch}"]))
        try:
            tokens, variables = subject.launch(start.ranks, start.placement, options, self.site)
        except NhalfError as error:
            self._refuse(start, str(error))
            raise LaunchError(str(error)) from error
        names = tuple(dict.fromkeys(self._hosts(start)))
        examiner = Examiner(names)
        probe = Probe(tokens, variables, self.plan.timeout_s, examiner)
        started = probe.launch.get("ranks")
        if started != start.ranks:
            probe.kill()
            raise LaunchError(f"{started} ranks started together instead of {start.ranks}")
        return probe

    def _answers(
        self, probe: Probe, start: Start, todo: list[Point], launch: int
    ) -> Iterator[Answer]:
        """Ask for every point; an answer is handed out while the next point is running.

        What the front end does with an answer then happens while ranks verify and warm up, and
        the machine is not idle between points.
        """
        subject = self.subjects[start.subject]
        answer: Answer | None = None
        for position, point in enumerate(todo):
            if self.budget.spent(launch) or self.limit.is_near():
                break
            if launch < LAUNCHES_MIN and position % POINTS_BETWEEN_LOOKS == 0:
                self._look_at_time()
            block = self.agenda.wanted(start, launch, point)
            if block is None:
                continue
            group = Group(block, start.ranks)
            slice_s = self.budget.slice_s(group)
            precision = self.plan.precision_of(self.plan.blocks[block])
            asked_s = time.monotonic()
            try:
                info = subject.infos[point.pattern]
                probe.send(line(str(position), point, slice_s, precision, info.timing))
            finally:
                if answer is not None:
                    yield answer
                    answer = None
            try:
                record = probe.receive(self.plan.timeout_s + 50 * slice_s, identity=str(position))
            except LaunchError as error:
                self._suspect(subject, point, error)
                raise
            self._answered(start)
            spent_s = time.monotonic() - asked_s
            self.budget.answered(group, launch, spent_s, slice_s)
            answer = Answer(position, point, record, spent_s)
        if answer is not None:
            yield answer

    def _look_at_time(self) -> None:
        """Leave points out where they take longer than was assumed."""
        if self.plan.budget_s and self.budget.short_s() > 0:
            self._keep_to_budget()

    def _introduce(self, probe: Probe, start: Start, launch: int) -> list[str]:
        """Put the launch into the journal; the doubts about where its ranks are."""
        placement = probe.launch.get("placement", [])
        simulated = probe.launch.get("clock", {}).get("name") == "virtual"
        advice = [] if simulated else self._placement_advice(placement, start)
        if self.state.moved(start, {"placement": placement}):
            advice = [*advice, "moved"]
        self.journal.append(
            {
                "event": "launch",
                "subject": start.subject,
                "launch": launch,
                "ranks": start.ranks,
                "asked_placement": start.placement,
                "library": probe.launch.get("library", ""),
                "clock": probe.launch.get("clock", {}),
                "placement": placement,
                "advice": advice,
            }
        )
        return advice

    def _placement_advice(self, placement: list[dict[str, Any]], start: Start) -> list[str]:
        """The doubts about where the ranks of a launch are."""
        hosts = self._hosts(start)
        shares_cores = bool(hosts) and self.site.shares_cores
        return placement_advice(placement, start.placement, hosts, shares_cores)

    def _hosts(self, start: Start) -> list[str]:
        """The host of every rank of a start; none on this machine."""
        site = self.site if self.subjects[start.subject].library else HERE
        return site.expected(start.placement, start.ranks)

    def _keep(self, subject: Subject, launch: int, advice: list[str], answer: Answer) -> None:
        """Put an answer into the journal, then show it."""
        point, record = answer.point, answer.record
        if record.get("nhalf") != "point":
            self._impossible(subject, point, str(record.get("message", "no answer")))
            return
        kept = Record(
            **asdict(_identity(subject, point)),
            launch=launch,
            position=answer.position,
            started_s=time.time() - record["elapsed_s"],
            batch=record["batch"],
            messages_per_round=record["messages_per_round"],
            bytes_per_time=record["bytes_per_time"],
            stop=record["stop"],
            verified=record["verified"],
            advice=sorted({*record["advice"], *advice}),
            samples_s=record["samples_s"],
            rank_s=record.get("rank_s", []),
            values=named_values(record.get("values", {})),
        )
        self.journal.append(event("point", subject.key, kept))
        self.state.done.add((subject.key, launch, point))
        self.progress.point(subject.title, point, kept.samples_s)

    def _scout(self, start: Start) -> None:
        """Find the sizes at which the curves change, in one quick launch that is not reported.

        Where launches end at it, the curve keeps its coarse sizes; so it does where it is thinned.
        """
        for _ in range(FAILURES_MAX):
            families = [
                family
                for family in self.agenda.families(start)
                if family.adaptive
                and self.agenda.thinned[family.block].sizes == 1
                and self.state.sizes_of(family.curve) is None
            ]
            if not families or start not in self.agenda.starts() or self._scouted_enough():
                return
            try:
                with self._start(start, "looking for protocol changes", 0) as probe:
                    for family in families:
                        if self._scouted_enough():
                            break
                        self.limit.check(self.path)
                        curve = family.curve
                        sizes = self.state.sizes[curve] = self._sizes(probe, start, family)
                        self.journal.append({"event": "sizes", **curve._asdict(), "sizes": sizes})
            except LaunchError as error:
                self._failed(start, error)

    def _scouted_enough(self) -> bool:
        """Whether looking for sizes has taken its share of a given budget."""
        return self.budget.share_spent() > SCOUT_SHARE and bool(self.plan.budget_s)

    def _sizes(self, probe: Probe, start: Start, family: Family) -> list[int]:
        """The coarse sizes and those that bracket the changes between them."""
        subject, curve = self.subjects[start.subject], family.curve
        info = subject.infos[curve.pattern]

        def measure(size_bytes: int) -> float | None:
            point = Point(curve.pattern, start.ranks, size_bytes, start.placement)
            if self.suspects[subject.key, point]:
                return None
            try:
                probe.send(line("scout", point, SCOUT_SLICE_S, 0.02, info.timing))
                record = probe.receive(self.plan.timeout_s, identity="scout")
            except LaunchError as error:
                self._suspect(subject, point, error)
                raise
            self._answered(start)
            # The fastest sample: disturbances only ever add time.
            fastest_s = min(record.get("samples_s") or [0.0])
            return fastest_s if fastest_s > 0 else None

        coarse = family.sizes
        found = {size: time_s for size in coarse if (time_s := measure(size)) is not None}
        return list(info.sizes(tuple({*coarse, *refine(found, measure)})))

    def _answered(self, start: Start) -> None:
        """A start is alive."""
        self.answered.add(start)
        self.failures[start] = 0

    def _suspect(self, subject: Subject, point: Point, error: LaunchError) -> None:
        """A launch ended while a point was running: after the second time it is left out.

        A point is not to blame for a host that died.
        """
        self.suspects[subject.key, point] += not error.dead
        if self.suspects[subject.key, point] >= FAILURES_MAX:
            self._impossible(subject, point, str(error))

    def _impossible(self, subject: Subject, point: Point, reason: str) -> None:
        """Note a point that this subject cannot measure."""
        self.state.impossible.add((subject.key, point))
        failed = event("failed", subject.key, _identity(subject, point))
        self.journal.append({**failed, "reason": reason})

    def _failed(self, start: Start, error: LaunchError) -> None:
        """Note a launch that failed; a start that only fails, or needs a dead host, is given up."""
        self.failures[start] += 1
        self.troubles.append(f"{self.subjects[start.subject].title}: {error}")
        for host, reason in error.dead.items():
            self._lost(host, reason)
        limit = FAILURES_IN_A_ROW_MAX if start in self.answered else FAILURES_MAX
        if self.failures[start] >= limit and start not in self.state.refused:
            self._refuse(start, str(error))

    def _lost(self, host: str, reason: str) -> None:
        """A host is dead: what needs it is given up, and it is told to whoever goes on."""
        self.state.dead[host] = reason
        self.journal.append({"event": "host", "host": host, "reason": reason})
        for start in self.agenda.starts():
            if host in self._hosts(start):
                self._refuse(start, f"{host}: {reason}")

    def _refuse_what_hosts_cannot(self) -> None:
        """Give up the starts that need more hosts than there are."""
        for start in self.agenda.starts():
            try:
                self._hosts(start)
            except NhalfError as error:
                self._refuse(start, str(error))

    def _living(self, site: Site) -> Site:
        """The site without hosts that died before and are still dead."""
        died = [host.name for host in site.hosts if host.name in self.state.dead]
        still = unanswered(died) if died else []
        for host in still:
            self.progress.say(f"{host} still does not answer and is left out")
        self.state.dead = {host: self.state.dead[host] for host in still}
        return site.without(still)

    def _refuse(self, start: Start, reason: str) -> None:
        """Give a start up, and its subject when it has no other."""
        self.state.refused.setdefault(start, reason)
        if not any(other.subject == start.subject for other in self.agenda.starts()):
            self.state.failed[start.subject] = reason


def _identity(subject: Subject, point: Point) -> Identity:
    """What identifies a point, as the journal has it."""
    algorithm, axes = split(subject.infos[point.pattern], point.axes)
    return Identity(
        transport=subject.transport,
        mpi=subject.mpi,
        pattern=point.pattern,
        algorithm=algorithm,
        ranks=point.ranks,
        placement=point.placement,
        axes=axes,
        bytes=point.size_bytes,
    )


def line(identity: str, point: Point, slice_s: float, precision: float, timing: str) -> str:
    """A point as the probe reads it.

    In a short slice, operations that are timed one by one would be sampled far beyond it by the
    probe's own least number.
    """
    axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
    few = " samples_min=3" if timing != "first-rank" and slice_s < SHORT_SLICE_S else ""
    return (
        f"id={identity} pattern={point.pattern} bytes={point.size_bytes} "
        f"slice_s={slice_s:.6f} precision={precision:.6f}{few}{axes}"
    )
