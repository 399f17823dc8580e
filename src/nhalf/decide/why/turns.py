# SPDX-License-Identifier: Apache-2.0
"""Launches of mixtures in turns: every round launches each mixture once, in a new order.

What lasts longer than a round (a clock that slows down, a neighbour) meets all of its mixtures
alike, so that differences within a round are free of it.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from nhalf.base.errors import FailedError
from nhalf.decide.out_of_time import OutOfTime
from nhalf.decide.why.switch import Mixture

Launch = Callable[[Mixture], float]
"""Runs a mixture once; returns its time, seconds. Raises LaunchFailed if it does not run."""
Round = dict[Mixture, float]
"""The logarithm of each mixture's time in one round."""
FAILURES_MAX = 2
"""A mixture that failed this often in a row does not run."""


class LaunchFailed(FailedError):
    """A launch ended without a time."""


@dataclass
class Turns:
    """The launches so far. Of `exact` times, which never differ, each mixture needs one.

    `fails` says why a mixture does not run. `report` is called after every launch.
    """

    launch: Launch
    is_exact: bool = False
    budget_s: float = math.inf
    seed: int = 1
    report: Callable[[Turns], None] = lambda turns: None
    rounds: list[Round] = field(default_factory=list)
    fails: dict[Mixture, str] = field(default_factory=dict)
    launches: int = 0
    began_s: float = field(default_factory=time.monotonic)
    _failures: dict[Mixture, int] = field(default_factory=dict)
    _repeated: Round = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Orders within rounds are random, and the same in every search with this seed."""
        self._random = random.Random(self.seed)

    def take(self, mixtures: Iterable[Mixture]) -> Round:
        """Launch each mixture once; one that failed is not in the result.

        Raises OutOfTime before a launch for which no time is left.
        """
        order = list(dict.fromkeys(mixtures))
        self._random.shuffle(order)
        turn: Round = {}
        for mixture in order:
            if mixture not in self.fails and (log := self._log(mixture)) is not None:
                turn[mixture] = log
        self.rounds.append(turn)
        return turn

    def runs(self, mixture: Mixture) -> bool:
        """Whether a mixture runs at all, which is tried if it was not."""
        while mixture not in self.fails:
            if any(mixture in turn for turn in self.rounds) or self.take([mixture]):
                return True
        return False

    def _log(self, mixture: Mixture) -> float | None:
        """The logarithm of the time of one launch; None if it failed."""
        if mixture in self._repeated:
            return self._repeated[mixture]
        if time.monotonic() - self.began_s > self.budget_s:
            raise OutOfTime()
        try:
            time_s = self.launch(mixture)
            if not (time_s > 0 and math.isfinite(time_s)):
                raise LaunchFailed(f"a launch took {time_s} s")
        except LaunchFailed as error:
            self._note_failure(mixture, str(error))
            return None
        finally:
            self.launches += 1
            self.report(self)
        self._failures.pop(mixture, None)
        log = math.log(time_s)
        if self.is_exact:
            self._repeated[mixture] = log
        return log

    def _note_failure(self, mixture: Mixture, reason: str) -> None:
        failures = self._failures[mixture] = self._failures.get(mixture, 0) + 1
        if self.is_exact or failures >= FAILURES_MAX:
            self.fails[mixture] = reason


def differences(rounds: Sequence[Round], upper: Mixture, lower: Mixture) -> list[float]:
    """The logarithm of the ratio of two mixtures' times, in every round that has both."""
    return [turn[upper] - turn[lower] for turn in rounds if upper in turn and lower in turn]
