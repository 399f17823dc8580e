"""The start of a launch's processes, and what is tried again or given up where one fails."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from nhalf.base.errors import NhalfError
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Plan, Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Crew, Open, Processes, Subject
from nhalf.sites.drawn_cores import draw_of, drawn_cores
from nhalf.sites.health import Examiner
from nhalf.sites.placement import CORES, allowed_cpus, placement_advice
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import several_worlds

FAILURES_MAX = 2
"""How often a launch may end at one point, or a start fail that never answered."""
FAILURES_IN_A_ROW_MAX = 6
"""Launches in a row that may fail without an answer, for a start that did answer before."""
TROUBLES_TOLD = 4


class CannotStartError(LaunchError):
    """A start that this machine cannot provide, however often it is tried."""

    is_final: ClassVar[bool] = True


class Retries:
    """Counts failures, and gives up what only fails: a point, a start, a library, a host."""

    def __init__(
        self,
        agenda: Agenda,
        records: Records,
        subjects: Mapping[str, Subject],
        hosts: Callable[[Start], list[str]],
    ) -> None:
        """Begin without failures; `hosts` returns the host of every rank, or raises NhalfError."""
        self._agenda = agenda
        self._records = records
        self._state: RunState = records.state
        self._subjects = subjects
        self._hosts = hosts
        self._failures: Counter[Start] = Counter()
        self._answered = {Start(key, p.ranks, p.placement) for key, _, p in self._state.done}
        self._suspects: Counter[tuple[str, Point]] = Counter()
        self._troubles: list[str] = []

    def attempts(self, start: Start) -> Iterator[AbstractContextManager[None]]:
        """Yield attempts at a launch until its start is given up: leave when all is measured."""
        while start in self._agenda.starts():
            yield self._attempt(start)

    def answered(self, start: Start) -> None:
        """Note that a start has answered."""
        self._answered.add(start)
        self._failures[start] = 0

    def ended(self, start: Start, point: Point) -> int:
        """Return how many launches of a subject a point has ended."""
        return self._suspects[start.subject, point]

    def suspect(self, subject: Subject, point: Point, error: LaunchError) -> None:
        """Note that a launch ended while a point was running: after the second time it is left out.

        A point is not blamed for a host that died.
        """
        self._suspects[subject.key, point] += not error.dead
        if self._suspects[subject.key, point] >= FAILURES_MAX:
            self._records.impossible(subject, point, str(error))

    def refuse_what_hosts_cannot(self) -> None:
        """Give up the starts that need more hosts than there are."""
        for start in self._agenda.starts():
            try:
                self._hosts(start)
            except NhalfError as error:
                self._refuse(start, str(error))

    def given_up(self) -> dict[str, str]:
        """Return why something could not be started: by subject key, or by a start in words."""
        refused = {
            f"{self._subjects[key].title} with {ranks} ranks, placement {placement}": reason
            for (key, ranks, placement), reason in self._state.refused.items()
            if key not in self._state.failed
        }
        return self._state.failed | refused

    def in_words(self) -> list[str]:
        """Describe the launches that ended early, a line for each of the most frequent reasons."""
        counts = Counter(self._troubles).most_common(TROUBLES_TOLD)
        return [f"{reason} ({number} times)" if number > 1 else reason for reason, number in counts]

    @contextmanager
    def _attempt(self, start: Start) -> Iterator[None]:
        """A launch, which may fail; a start that only fails, or needs a dead host, is given up."""
        try:
            yield
        except LaunchError as error:
            self._failures[start] += 1
            self._troubles.append(f"{self._subjects[start.subject].title}: {error}")
            for host, reason in error.dead.items():
                self._lost(host, reason)
            limit = FAILURES_IN_A_ROW_MAX if start in self._answered else FAILURES_MAX
            if error.is_final or self._failures[start] >= limit:
                self._refuse(start, str(error))

    def _lost(self, host: str, reason: str) -> None:
        """Record a dead host and give up every start that needs it."""
        self._records.dead(host, reason)
        for start in self._agenda.starts():
            if host in self._hosts(start):
                self._refuse(start, f"{host}: {reason}")

    def _refuse(self, start: Start, reason: str) -> None:
        """Give up a start, and its subject if no start remains; the first reason is kept."""
        if start in self._state.refused:
            return
        self._state.refused[start] = reason
        if not any(candidate.subject == start.subject for candidate in self._agenda.starts()):
            self._state.failed[start.subject] = reason


OTHERS_S = 2.0
"""How long further worlds may take to answer after one that is too small has answered."""
MAPS = "pair-map"
"""What patterns begin with that tell pairs of ranks apart."""


@dataclass(frozen=True)
class Starting:
    """Starts the processes of the subjects of a plan on a site.

    `settled` are starts whose ranks did not go to the cores that were drawn for them.
    """

    plan: Plan
    subjects: Mapping[str, Subject]
    records: Records
    site: Site
    open: Open = Probe
    settled: set[Start] = field(default_factory=set)

    def processes(self, start: Start, doing: str, launch: int, at_once: int = 1) -> Processes:
        """Start the processes; raises LaunchError if they do not come up together.

        Each launch of a simulated machine has its own seed. Up to `at_once` questions may be asked
        before the first is answered.
        """
        subject, cores = self.subjects[start.subject], self._drawn_cores(start, launch)
        if cores:
            drawn = ("--cpus", ",".join(map(str, cores)))
            subject = replace(subject, command=(*subject.command, *drawn))
        self.records.progress.say(f"{subject.title}  {doing}")
        try:
            tokens, variables = subject.launch(
                start.ranks, start.placement, self._options(subject, launch), self.site
            )
            say = self.records.progress.say
            open_ = subject.opener(start.ranks, start.placement, launch, say) or self.open
        except NhalfError as error:
            raise CannotStartError(str(error)) from error
        examiner = Examiner(tuple(dict.fromkeys(self.hosts(start))))

        def start_one() -> Processes:
            return open_(tokens, variables, self.plan.timeout_s, examiner)

        processes = Crew(start_one, at_once) if at_once > 1 else start_one()
        reports = processes.launch.get("placement", [])
        bound_to = [list(rank.get("allowed_cpus", [])) for rank in reports]
        if cores and bound_to != [[core] for core in cores]:
            self.settled.add(start)
        started = processes.launch.get("ranks")
        if started != start.ranks:
            try:
                raise self._apart(processes, start)
            finally:
                processes.kill()
        return processes

    def _drawn_cores(self, start: Start, launch: int) -> list[int]:
        """The core of each rank, if cores are drawn for this launch; else the launcher's stay.

        Maps of pairs are those of the cores that their first launch had.
        """
        draw, chosen = draw_of(launch), self.records.state.cores.get(start, [])
        is_mapped = any(
            start.ranks in block.ranks and any(name.startswith(MAPS) for name in block.patterns)
            for block in self.plan.blocks
        )
        is_free = self.plan.draws_cores and start.placement == CORES and self.site == HERE
        is_ours = self.subjects[start.subject].library is not None and start not in self.settled
        if not draw or is_mapped or not (is_free and is_ours):
            return []
        return drawn_cores(chosen, allowed_cpus(), f"{self.plan.seed} {draw}")

    def _apart(self, processes: Processes, start: Start) -> LaunchError:
        """Return the error for ranks that are not in one world.

        Each world opens with its own record. Another attempt does not help against several worlds.
        """
        library = self.subjects[start.subject].library
        worlds = [int(processes.launch.get("ranks", 0))]
        if library is not None:
            with contextlib.suppress(LaunchError):
                while sum(worlds) < start.ranks:
                    worlds.append(int(processes.receive(OTHERS_S, "launch").get("ranks", 0)))
            if len(worlds) > 1 or worlds == [1]:
                launcher = self.site.launcher
                return CannotStartError(str(several_worlds(library, worlds, start.ranks, launcher)))
        return LaunchError(f"{worlds[0]} ranks started together instead of {start.ranks}")

    def introduce(self, opening: dict[str, Any], start: Start, launch: int) -> list[str]:
        """Record a launch; return the warnings about where its ranks are."""
        advice = [] if is_virtual(opening) else self._placement_advice(opening, start)
        if self.records.state.moved(start, opening):
            advice = [*advice, "moved"]
        advice = [*advice, *self.subjects[start.subject].advice]
        self.records.launch(start, launch, opening, advice)
        return advice

    def hosts(self, start: Start) -> list[str]:
        """Return the host of every rank of a start; empty on this machine."""
        site = self.site if self.subjects[start.subject].library else HERE
        return site.expected_hosts(start.placement, start.ranks)

    def _options(self, subject: Subject, launch: int) -> str:
        options = self.plan.options
        has_seed = any(option["name"] == "seed" for option in subject.description["options"])
        if not has_seed or "seed=" in options:
            return options
        return ",".join(filter(None, [options, f"seed={self.plan.seed * 1000 + launch}"]))

    def _placement_advice(self, opening: dict[str, Any], start: Start) -> list[str]:
        """Return the warnings about where the ranks of a launch are."""
        hosts = self.hosts(start)
        shares_cores = bool(hosts) and self.site.shares_cores
        return placement_advice(opening.get("placement", []), start.placement, hosts, shares_cores)


def is_virtual(opening: Mapping[str, Any]) -> bool:
    """Whether the clock of a launch is that of a simulated machine, by its `opening` record."""
    return bool(opening.get("clock", {}).get("name") == "virtual")
