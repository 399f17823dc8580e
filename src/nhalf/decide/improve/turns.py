# SPDX-License-Identifier: Apache-2.0
"""Launches in turns, within a budget, and what is remembered of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nhalf.base.errors import FailedError
from nhalf.decide.improve.candidate import PLAIN, Candidate, Setting, title
from nhalf.decide.out_of_time import OutOfTime


@dataclass(frozen=True)
class Launched:
    """One launch: its seconds, or why it does not count; `is_stopped` at the limit of its time."""

    time_s: float
    problem: str = ""
    is_stopped: bool = False

    @property
    def counts(self) -> bool:
        """Whether there is a time."""
        return not self.problem and math.isfinite(self.time_s) and self.time_s > 0


Launch = Callable[[Setting, float], Launched]
"""Launches a setting, which is ended after some seconds."""


EXACT_LAUNCHES = 2
TOO_SLOW = 3.0
"""A setting that takes more than this multiple of the plain time is ended, and never helps."""
SPARE_S = 5.0
"""So much longer it may take at least."""


@dataclass
class Turns:
    """All launches of a search. `clock_s` tells seconds; `report` is called after each launch.

    A launch is begun only if one that takes as long as the last of the base would end in time.
    """

    launch: Launch
    budget_s: float
    clock_s: Callable[[], float]
    seed: int = 1
    report: Callable[[Setting, Launched], None] = lambda setting, launched: None
    times_s: dict[Setting, list[float]] = field(default_factory=dict)
    refused: dict[Candidate, str] = field(default_factory=dict)
    launches: int = 0
    cost_s: float = 0.0
    _longest_s: float = 0.0

    def __post_init__(self) -> None:
        """The random order is the same in every search with this seed."""
        self.random = random.Random(self.seed)
        self.began_s = self.clock_s()

    @property
    def remaining_s(self) -> float:
        """What is left of the budget."""
        return self.budget_s - (self.clock_s() - self.began_s)

    def first(self) -> float:
        """The plain program, once: its time, seconds. Raises FailedError if it does not run."""
        begin_s = self.clock_s()
        launched = self.launch(PLAIN, max(self.remaining_s, 0.0))
        self.cost_s = self._longest_s = self.clock_s() - begin_s
        self._note(PLAIN, launched)
        if not launched.counts:
            raise FailedError(
                f"the program as it is does not run: {launched.problem or 'it takes no time'}",
                "run it by hand first, or give it more time with --budget",
            )
        return launched.time_s

    def block(self, settings: Sequence[Setting]) -> dict[Setting, float]:
        """Launch each setting once, in random order: their times, without those that have none.

        Raises OutOfTime if there is no time for all of them, and FailedError if the base, which is
        the first one, does not run any more.
        """
        if self.remaining_s < len(settings) * self.cost_s:
            raise OutOfTime()
        order = list(settings)
        self.random.shuffle(order)
        return self._launched(order, settings[0])

    def pair(self, base: Setting, setting: Setting, base_first: bool) -> float | None:
        """The logarithm of the ratio of two launches that follow each other; None without one."""
        if self.remaining_s < 2 * self.cost_s:
            raise OutOfTime()
        order = [base, setting] if base_first else [setting, base]
        times = self._launched(order, base)
        return math.log(times[base] / times[setting]) if len(times) == 2 else None

    def _limit_s(self, is_base: bool) -> float:
        """When a launch is ended: one of the base, which is known to end, at the end of time."""
        if is_base:
            return max(self.remaining_s, self._longest_s + SPARE_S)
        return max(TOO_SLOW * self._longest_s, self._longest_s + SPARE_S)

    def is_exact(self, setting: Setting) -> bool:
        """Whether two launches of a setting took exactly as long, so that a third one would, too.

        Only those on a machine that is not there do.
        """
        times_s = self.times_s.get(setting, [])
        return len(times_s) >= EXACT_LAUNCHES and len(set(times_s)) == 1

    def _launched(self, order: Sequence[Setting], base: Setting) -> dict[Setting, float]:
        times: dict[Setting, float] = {}
        for setting in order:
            if setting != base and setting[-1] in self.refused:
                continue
            if self.is_exact(setting):
                times[setting] = self.times_s[setting][0]
                continue
            begin_s, limit_s = self.clock_s(), self._limit_s(is_base=setting == base)
            launched = self.launch(setting, limit_s)
            if launched.is_stopped and setting == base:
                raise OutOfTime()
            if launched.is_stopped and setting in self.times_s:
                # It has ended before, so this launch was disturbed, and took no less than this.
                launched = Launched(limit_s)
            if setting == base:
                self.cost_s = self.clock_s() - begin_s
                self._longest_s = max(self._longest_s, self.cost_s)
            self._note(setting, launched)
            if launched.counts:
                times[setting] = launched.time_s
            elif setting == base:
                raise FailedError(
                    f"{title(base)} has run before, and does not run any more: {launched.problem}",
                    "run it by hand",
                )
            else:
                self.refused[setting[-1]] = launched.problem
        return times

    def _note(self, setting: Setting, launched: Launched) -> None:
        self.launches += 1
        if launched.counts:
            self.times_s.setdefault(setting, []).append(launched.time_s)
        self.report(setting, launched)
