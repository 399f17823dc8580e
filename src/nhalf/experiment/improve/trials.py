"""What a search knows of its candidates, and what became of each.

Whether one setting is faster than another, from pairs of launches, with interim analyses.

A gain is proven where the lower end of its interval (statistics/paired.py) is above a gain of
`LEAST_GAIN`. More pairs may follow for as long as one likes, and the interval that ends the search
still holds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import Literal

from nhalf.experiment.improve.change import PLAIN, Candidate, Setting
from nhalf.experiment.turns import Turns
from nhalf.statistics.paired import ANALYSES, Effect

LEAST_GAIN = math.log(1.01)
"""Nobody starts a program differently for less."""
FALSE_SHARE = 0.05
"""The rate at which a whole search claims a gain that is none."""
EXACT_PAIRS = 2
"""This many pairs of equal times mean that times do not vary."""
PRECISE = 0.02
"""A proven gain is precise enough with an interval of this half-width, or of ..."""
PRECISE_SHARE = 0.2
"""... this share of the gain, both of logarithms."""


@dataclass(frozen=True)
class SettingGain:
    """By which factor a setting is faster: the centre and its interval, from pairs of launches."""

    factor: float
    low: float
    high: float
    pairs: int

    @property
    def is_proven(self) -> bool:
        """Whether the program is faster by more than nothing that matters."""
        return math.log(self.low) > LEAST_GAIN if self.low > 0 else False

    @property
    def is_precise(self) -> bool:
        """Whether more pairs would tell little more."""
        reach = max(math.log(self.high / self.factor), math.log(self.factor / self.low))
        return reach <= max(PRECISE, PRECISE_SHARE * abs(math.log(self.factor)))

    @property
    def is_hopeless(self) -> bool:
        """Whether it is no gain that matters, or does not look like one after several pairs."""
        looks_small = self.pairs >= ANALYSES.pairs[2] and math.log(self.factor) <= LEAST_GAIN
        return looks_small or (self.high > 0 and math.log(self.high) <= LEAST_GAIN)


def together(gains: Sequence[SettingGain]) -> SettingGain:
    """The gain of several steps, each over those before: the product.

    The intervals of a search hold together, at its rate, and so does that of their product.
    """
    return SettingGain(
        math.prod(gain.factor for gain in gains),
        math.prod(gain.low for gain in gains),
        math.prod(gain.high for gain in gains),
        sum(gain.pairs for gain in gains),
    )


def is_exact(logs: Sequence[float]) -> bool:
    """Whether times do not vary at all, as those of a virtual machine."""
    return len(logs) >= EXACT_PAIRS and all(log == logs[0] for log in logs)


def is_analysed(logs: Sequence[float]) -> bool:
    """Whether there is an analysis after these pairs."""
    return len(logs) in ANALYSES.pairs or (len(logs) == EXACT_PAIRS and is_exact(logs))


def gain(logs: Sequence[float], false_share: float) -> SettingGain:
    """The gain with the interval of one analysis; `false_share` is that of all, at both ends.

    Of one pair the interval has no ends.
    """
    effect = Effect.of(logs)
    return SettingGain(effect.ratio, *effect.interval(ANALYSES.part(false_share)), effect.pairs)


def attempt_rate(number: int, whole: float = FALSE_SHARE) -> float:
    """The error of the proof attempt of this number, from 1: 1/2, 1/6, 1/12 ... of the whole.

    All attempts together have at most the whole.
    """
    return whole / (number * (number + 1))


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
            return "excluded" if any(map(trial.candidate.excludes, self.proven)) else "not reached"
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
