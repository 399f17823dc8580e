"""Starting the processes of a launch, and checking where they run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import NhalfError
from nhalf.measure.loop.records import Records
from nhalf.measure.loop.retry import CannotStartError
from nhalf.measure.plan.plan import Plan, Start
from nhalf.measure.probe.crew import Crew, Open, Processes
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject
from nhalf.sites.health import Examiner
from nhalf.sites.placement import placement_advice
from nhalf.sites.site import HERE, Site
from nhalf.sites.start import several_worlds

OTHERS_S = 2.0
"""How long further worlds may take to answer after one that is too small has answered."""


@dataclass(frozen=True)
class Starting:
    """Starts the processes of the subjects of a plan on a site."""

    plan: Plan
    subjects: Mapping[str, Subject]
    records: Records
    site: Site
    open: Open = Probe

    def processes(self, start: Start, doing: str, launch: int, at_once: int = 1) -> Processes:
        """Start the processes; raises LaunchError if they do not come up together.

        Each launch of a simulated machine has its own seed. Up to `at_once` questions may be asked
        before the first is answered.
        """
        subject = self.subjects[start.subject]
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
        started = processes.launch.get("ranks")
        if started != start.ranks:
            try:
                raise self._apart(processes, start)
            finally:
                processes.kill()
        return processes

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
