# SPDX-License-Identifier: Apache-2.0
"""The retry of a failed launch: what is tried again, and what is given up and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from nhalf.base.errors import NhalfError
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import State
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject

FAILURES_MAX = 2
"""How often a launch may end at one point, or a start that never answered may fail."""
FAILURES_IN_A_ROW_MAX = 6
"""Launches that may fail in a row, without any answer, of a start that did answer before."""
TROUBLES_TOLD = 4


class CannotStartError(LaunchError):
    """A start that this machine cannot give, however often it is tried."""


class Retries:
    """Counts what fails, and gives up what only fails: a point, a start, a library, a host."""

    def __init__(
        self,
        agenda: Agenda,
        records: Records,
        subjects: Mapping[str, Subject],
        hosts: Callable[[Start], list[str]],
    ) -> None:
        """`hosts` tells the host of every rank of a start; NhalfError where it cannot be had."""
        self._agenda = agenda
        self._records = records
        self._state: State = records.state
        self._subjects = subjects
        self._hosts = hosts
        self._failures: Counter[Start] = Counter()
        self._answered = {Start(key, p.ranks, p.placement) for key, _, p in self._state.done}
        self._suspects: Counter[tuple[str, Point]] = Counter()
        self._troubles: list[str] = []

    def attempts(self, start: Start) -> Iterator[AbstractContextManager[None]]:
        """Attempts at a launch, without end until its start is given up: leave when all is done."""
        while start in self._agenda.starts():
            yield self._attempt(start)

    def answered(self, start: Start) -> None:
        """A start is alive."""
        self._answered.add(start)
        self._failures[start] = 0

    def ended(self, start: Start, point: Point) -> int:
        """How many launches of a subject a point has ended."""
        return self._suspects[start.subject, point]

    def suspect(self, subject: Subject, point: Point, error: LaunchError) -> None:
        """A launch ended while a point was running: after the second time it is left out.

        A point is not to blame for a host that died.
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
        """Why something could not be started: subjects by key, starts of others in words."""
        refused = {
            f"{self._subjects[key].title} with {ranks} ranks, placement {placement}": reason
            for (key, ranks, placement), reason in self._state.refused.items()
            if key not in self._state.failed
        }
        return self._state.failed | refused

    def in_words(self) -> list[str]:
        """The launches that ended early, a line for each reason, the first few."""
        counts = Counter(self._troubles).most_common(TROUBLES_TOLD)
        return [f"{reason} ({number} times)" if number > 1 else reason for reason, number in counts]

    @contextmanager
    def _attempt(self, start: Start) -> Iterator[None]:
        try:
            yield
        except LaunchError as error:
            self._failed(start, error)

    def _failed(self, start: Start, error: LaunchError) -> None:
        """Note a launch that failed; a start that only fails, or needs a dead host, is given up."""
        self._failures[start] += 1
        self._troubles.append(f"{self._subjects[start.subject].title}: {error}")
        for host, reason in error.dead.items():
            self._lost(host, reason)
        limit = FAILURES_IN_A_ROW_MAX if start in self._answered else FAILURES_MAX
        if isinstance(error, CannotStartError) or self._failures[start] >= limit:
            self._refuse(start, str(error))

    def _lost(self, host: str, reason: str) -> None:
        """A host is dead: what needs it is given up, and whoever goes on is informed."""
        self._records.dead(host, reason)
        for start in self._agenda.starts():
            if host in self._hosts(start):
                self._refuse(start, f"{host}: {reason}")

    def _refuse(self, start: Start, reason: str) -> None:
        """Give a start up, and its subject when it has no other; the first reason stays."""
        if start in self._state.refused:
            return
        self._state.refused[start] = reason
        if not any(other.subject == start.subject for other in self._agenda.starts()):
            self._state.failed[start.subject] = reason
