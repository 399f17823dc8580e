"""Launches of several ways to run a program in turns, within a budget, and what is remembered.

Every round launches each of its ways once, in a new order. What lasts longer than a round (a clock
that slows down, a neighbour) meets all of its ways alike, so that differences within a round are
free of it.
"""

import math
import random
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from nhalf.base.errors import FailedError, NhalfError


class OutOfTime(NhalfError):
    """The budget of a search is spent."""

    def __init__(self) -> None:
        """Say so, and how to give more."""
        super().__init__("the budget is spent", "give more with --budget")


Way = TypeVar("Way", bound=Hashable)
Launch = Callable[[Way, float], float]
"""Runs a way once, which is ended after some seconds; returns its time, seconds. Raises
LaunchFailed if it does not run."""
Report = Callable[[Way, float, str], None]
Round = dict[Way, float]
"""The logarithm of each way's time in one round; what failed is not in it."""


class LaunchFailed(FailedError):
    """A launch ended without a time that counts."""


class LaunchStopped(LaunchFailed):
    """A launch was ended at its limit."""


@dataclass(frozen=True)
class Limits:
    """When a launch is ended: after `factor` times the longest, and not before `least_s`, nor
    before `spare_s` more than the longest; the first ones after `most_s` alone.
    """

    factor: float = 1.0
    least_s: float = 0.0
    spare_s: float = 0.0
    most_s: float = math.inf
    first_launches: int = sys.maxsize

    def limit_s(self, longest_s: float, launches: int) -> float:
        """The limit if the longest of this many launches took this long."""
        if launches < self.first_launches:
            return self.most_s
        usual_s = max(self.factor * longest_s, self.least_s, longest_s + self.spare_s)
        return min(self.most_s, usual_s)


UNLIMITED = Limits()
AT_TIMES = 2
"""What fails this often in a row does not fail at times, but always."""


@dataclass
class Turns(Generic[Way]):
    """The launches so far; `clock_s` tells seconds, and `report` is called after each launch with
    its way, its time and why that does not count, '' if it does.

    A way of which `exact_launches` took exactly as long, as on a simulated machine, is not
    launched again. One that failed `failures_max` times in a row does not run: `fails` says why.
    A base that has run before may fail once; from then on all that is launched with a base may.
    """

    launch: Launch[Way]
    budget_s: float = math.inf
    clock_s: Callable[[], float] = time.monotonic
    seed: int = 1
    limits: Limits = UNLIMITED
    exact_launches: int = 0
    failures_max: int = 1
    report: Report[Way] = lambda way, time_s, problem: None
    rounds: list[Round[Way]] = field(default_factory=list)
    times_s: dict[Way, list[float]] = field(default_factory=dict)
    fails: dict[Way, str] = field(default_factory=dict)
    launches: int = 0
    cost_s: float = 0.0
    _longest_s: float = 0.0
    _base_fails: bool = False
    _failures: dict[Way, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Orders are random, and the same in every search with this seed."""
        self.random = random.Random(self.seed)
        self.began_s = self.clock_s()

    @property
    def are_exact(self) -> bool:
        """Whether one launch of a way says all."""
        return self.exact_launches == 1

    @property
    def remaining_s(self) -> float:
        """What is left of the budget."""
        return self.budget_s - (self.clock_s() - self.began_s)

    def take(self, ways: Iterable[Way], base: Way | None = None) -> Round[Way]:
        """Launch each way once, in random order.

        Raises OutOfTime before a launch for which no time is left. With a `base` among the ways
        the round is whole or not begun: if one that takes as long as the last of the base would
        not end in time. A base has to run, else LaunchFailed is raised.
        """
        order = list(dict.fromkeys(ways))
        self._require(len(order) if base is not None else 0)
        self.random.shuffle(order)
        return self._taken(order, base)

    def pair(self, base: Way, way: Way, base_first: bool) -> float | None:
        """The logarithm of the ratio of two launches that follow each other; None without one."""
        self._require(2)
        turn = self._taken([base, way] if base_first else [way, base], base)
        return turn[base] - turn[way] if len(turn) == 2 else None

    def first(self, base: Way) -> float:
        """The time of the first launch of a base, seconds. Raises LaunchFailed without one."""
        self._taken([base], base)
        return self.times_s[base][-1]

    def runs(self, way: Way) -> bool:
        """Whether a way runs at all, which is tried if it was not."""
        while way not in self.fails:
            if way in self.times_s or self.take([way]):
                return True
        return False

    def repeats(self, way: Way) -> bool:
        """Whether its launches took exactly as long, so that another one would, too."""
        times_s = self.times_s.get(way, [])
        return 0 < self.exact_launches <= len(times_s) and len(set(times_s)) == 1

    def _require(self, launches: int) -> None:
        if launches and self.remaining_s < launches * self.cost_s:
            raise OutOfTime()

    def _taken(self, order: Sequence[Way], base: Way | None) -> Round[Way]:
        turn: Round[Way] = {}
        for way in order:
            if way in self.fails:
                continue
            if not self.repeats(way):
                if base is None and self.remaining_s < 0:
                    raise OutOfTime()
                if not self._runs_now(way, base):
                    continue
            turn[way] = math.log(self.times_s[way][-1])
        self.rounds.append(turn)
        return turn

    def _runs_now(self, way: Way, base: Way | None) -> bool:
        """Launch a way once, or with a base until it has a time or does not run."""
        while not self._has_run(way, base):
            if base is None or way in self.fails:
                return False
        return True

    def _has_run(self, way: Way, base: Way | None) -> bool:
        """Launch a way; whether there is a time. Raises LaunchFailed for a base without one."""
        begin_s, limit_s = self.clock_s(), self._limit_s(way, base)
        time_s, problem = math.nan, ""
        try:
            time_s = self._launched_s(way, base, limit_s)
            if not (time_s > 0 and math.isfinite(time_s)):
                problem = f"a launch took {time_s} s"
        except LaunchFailed as error:
            problem = str(error)
        took_s = self.clock_s() - begin_s
        self.launches += 1
        self.report(way, time_s, problem)
        if problem:
            self._note_failure(way, problem, base)
            return False
        self.times_s.setdefault(way, []).append(time_s)
        self._failures.pop(way, None)
        if way == base:
            self.cost_s = took_s
        if base is None or way == base:
            self._longest_s = max(self._longest_s, took_s)
        return True

    def _launched_s(self, way: Way, base: Way | None, limit_s: float) -> float:
        """The time of a launch; the limit, if one beside a base that ended before is stopped there,
        since that one was disturbed. Raises OutOfTime for a base that does not end in time.
        """
        try:
            return self.launch(way, limit_s)
        except LaunchStopped:
            if base is None and self.remaining_s <= 0:
                raise OutOfTime() from None
            if base is None or way not in self.times_s:
                raise
            if way == base:
                raise OutOfTime() from None
            return limit_s

    def _limit_s(self, way: Way, base: Way | None) -> float:
        """When a launch is ended: one of a base, which is known to end, at the end of time, and so
        is every launch without a base.
        """
        if way == base:
            spare_s = self._longest_s + self.limits.spare_s if self.times_s else 0.0
            return max(self.remaining_s, spare_s)
        finished = sum(map(len, self.times_s.values()))
        limit_s = self.limits.limit_s(self._longest_s, finished)
        return limit_s if base is not None else min(limit_s, max(0.0, self.remaining_s))

    def _note_failure(self, way: Way, problem: str, base: Way | None) -> None:
        failures = self._failures[way] = self._failures.get(way, 0) + 1
        if way == base:
            if way not in self.times_s or failures >= AT_TIMES:
                raise LaunchFailed(problem)
            self._base_fails = True
        elif failures >= (AT_TIMES if self._base_fails else self.failures_max):
            self.fails[way] = problem


def differences(rounds: Sequence[Round[Way]], upper: Way, lower: Way) -> list[float]:
    """The logarithm of the ratio of two ways' times, in every round that has both."""
    return [turn[upper] - turn[lower] for turn in rounds if upper in turn and lower in turn]
