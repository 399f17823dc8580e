"""Programs whose time is a function of their setting, with noise of a known kind, and a clock."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from nhalf.experiment.improve.change import Candidate, LaunchChange, Setting
from nhalf.experiment.improve.search import run, search, turns_of
from nhalf.experiment.improve.trials import SearchState
from nhalf.experiment.turns import LaunchFailed, LaunchStopped


def candidates(names: str) -> list[Candidate]:
    return [Candidate(name, name, name, LaunchChange({name: "1"})) for name in names.split()]


@dataclass
class Simulated:
    """A program of `plain_s`; `factors` are by which its candidates multiply its time.

    `noise` is the deviation of logarithms; of `outliers` (a share of launches) each takes half as
    long again; with `states` the machine is 20 % slower for some launches in a row; with `drift`
    every launch is slower than the last one by this share.
    """

    factors: Mapping[str, float]
    noise: float = 0.0
    outliers: float = 0.0
    states: bool = False
    drift: float = 0.0
    plain_s: float = 2.0
    seed: int = 1
    problems: Mapping[str, str] = field(default_factory=dict)
    now_s: float = 0.0
    launches: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.is_slow = False

    def __call__(self, setting: Setting, limit_s: float) -> float:
        self.launches += 1
        time_s = self.plain_s * math.prod(self.factors.get(part.name, 1.0) for part in setting)
        time_s *= math.exp(self.random.gauss(0.0, self.noise)) * (1 + self.drift) ** self.launches
        if self.random.random() < self.outliers:
            time_s *= 1.5
        if self.states and self.random.random() < 0.1:
            self.is_slow = not self.is_slow
        time_s *= 1.2 if self.is_slow else 1.0
        problems = [self.problems[part.name] for part in setting if part.name in self.problems]
        self.now_s += min(time_s, limit_s)
        if time_s > limit_s:
            raise LaunchStopped(f"no end within {limit_s} s")
        if problems:
            raise LaunchFailed(problems[0])
        return time_s

    def searched(self, names: str, budget_s: float = 600.0) -> SearchState:
        turns = turns_of(self, budget_s, lambda: self.now_s, self.seed)
        state = search(turns, candidates(names))
        run(state)
        return state
