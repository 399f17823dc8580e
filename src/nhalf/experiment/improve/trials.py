"""What a search knows of its candidates, and what became of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import Literal

from nhalf.experiment.improve.candidate import PLAIN, Candidate, Setting
from nhalf.experiment.improve.sequential import FALSE_SHARE, LEAST_GAIN, SettingGain
from nhalf.experiment.turns import Turns

Fate = Literal[
    "proven",
    "no further gain",
    "not proven",
    "no gain",
    "slower",
    "refused",
    "excluded",
    "unclear",
    "not reached",
]
"""What became of a candidate. What helps, but not beyond what is proven, is no further gain; what
seemed to help less than others, so that no proof was attempted, is not proven. What was never
launched, because it changes the same as something proven, is excluded."""


class Stage(Enum):
    """The last step of a search that is over for a candidate; PROVING is one that has begun."""

    WAITING = auto()
    SCOUTED = auto()
    SLOWER = auto()
    PROVING = auto()
    GIVEN_UP = auto()
    PROVEN = auto()


DECIDED: dict[Stage, Fate] = {
    Stage.SLOWER: "slower",
    Stage.PROVING: "unclear",
    Stage.PROVEN: "proven",
}
"""The fates that a stage alone decides."""


@dataclass
class CandidateTrial:
    """What is known of a candidate: logarithms of ratios to the plain program from scouting, and
    the last proof that was attempted.
    """

    candidate: Candidate
    scouted_relative: list[float] = field(default_factory=list)
    proof: SettingGain | None = None
    stage: Stage = Stage.WAITING

    @property
    def scouted_factor(self) -> float | None:
        """By which factor it was faster in scouting; None without a launch."""
        return math.exp(mean(self.scouted_relative)) if self.scouted_relative else None


@dataclass
class SearchState:
    """The state and the result of a search; it can be read at any moment.

    `proven` are the candidates that help, each with its gain over those before; `total` is the gain
    of all together.
    """

    turns: Turns[Setting]
    trials: dict[str, CandidateTrial]
    false_share: float = FALSE_SHARE
    proven: list[Candidate] = field(default_factory=list)
    total: SettingGain | None = None
    attempts: int = 0
    is_out_of_time: bool = False

    @property
    def candidates(self) -> list[Candidate]:
        """All that may be tried, the largest expected saving first."""
        return [trial.candidate for trial in self.trials.values()]

    @property
    def gains(self) -> list[SettingGain]:
        """The gain of each proven candidate over those before."""
        proofs = (self.trials[candidate.name].proof for candidate in self.proven)
        return [proof for proof in proofs if proof is not None]

    @property
    def setting(self) -> Setting:
        """What is switched on so far."""
        return tuple(self.proven)

    @property
    def refused(self) -> dict[Candidate, str]:
        """Candidates that do not run upon what was switched on, or give other results, and why."""
        return {setting[-1]: problem for setting, problem in self.turns.fails.items()}

    def fate(self, trial: CandidateTrial) -> Fate:
        """What became of a candidate so far."""
        if trial.candidate in self.refused and trial.stage is not Stage.PROVEN:
            return "refused"
        if trial.stage in DECIDED:
            return DECIDED[trial.stage]
        if trial.stage is Stage.WAITING:
            if self.is_out_of_time and trial.scouted_relative:
                return "unclear"
            is_excluded = any(map(trial.candidate.excludes, self.proven))
            return "excluded" if is_excluded else "not reached"
        if mean(trial.scouted_relative) <= LEAST_GAIN or (trial.proof and not self.proven):
            return "no gain"
        return "no further gain" if self.proven else "not proven"

    @property
    def fates(self) -> dict[str, Fate]:
        """What became of each candidate so far, by name."""
        return {name: self.fate(trial) for name, trial in self.trials.items()}

    @property
    def is_complete(self) -> bool:
        """Whether the budget sufficed for all that was planned."""
        return not self.is_out_of_time and not {"unclear", "not reached"} & {*self.fates.values()}

    @property
    def plain_s(self) -> float | None:
        """The median time of the plain program, seconds; None before its first launch."""
        times = sorted(self.turns.times_s.get(PLAIN, []))
        return times[len(times) // 2] if times else None

    @property
    def spread(self) -> float:
        """The median deviation between two launches of the plain program, as a share."""
        times = self.turns.times_s.get(PLAIN, [])
        if len(times) < 2:
            return 0.0
        steps = sorted(abs(math.log(after / before)) for before, after in pairwise(times))
        return steps[len(steps) // 2]


def mean(values: Sequence[float]) -> float:
    """The mean of logarithms, minus infinity without any."""
    return sum(values) / len(values) if values else -math.inf
