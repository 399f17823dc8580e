"""The retry of a failed launch: what is tried again, and what is given up and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

from nhalf.base.errors import NhalfError
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject

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
