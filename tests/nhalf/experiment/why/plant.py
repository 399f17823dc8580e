"""Programs whose cause is planted, with the noise of a machine that others use as well.

The logarithm of a launch's time is

    effects of the switches that stand as in B
    + what lasts longer than a launch: a random walk with a step of 1 %
    + a launch's own: normal, 3 %
    + a disturbance, exponential with a mean of 30 %, in one launch of twenty
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from nhalf.experiment.turns import LaunchFailed
from nhalf.experiment.why.switch import Mixture, SettableDifference

WALK, OWN, DISTURBED, MEAN_DISTURBANCE = 0.01, 0.03, 0.05, 0.3


def switches(number: int) -> list[SettableDifference]:
    """Differences that can be switched: V0: a0 -> b0, ..."""
    return [SettableDifference(f"V{place}", f"a{place}", f"b{place}") for place in range(number)]


@dataclass
class Planted:
    """A program: `effects` holds, for switches that must all be set, the logarithm they add.

    `either` holds sets of which any has the effect `either_log` (once). Mixtures for which `fails`
    is true end with an error.
    """

    effects: Mapping[frozenset[int], float]
    seed: int = 0
    noise: float = 1.0
    either: tuple[frozenset[int], ...] = ()
    either_log: float = 0.0
    needs: Mapping[int, int] = field(default_factory=dict)
    launches: list[Mixture] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Noise is that of the seed."""
        self._random = random.Random(self.seed)
        self._level = 0.0

    def launch(self, mixture: Mixture, limit_s: float = math.inf) -> float:
        """The time of a launch, seconds."""
        self.launches.append(mixture)
        for switch, partner in self.needs.items():
            if (switch in mixture) != (partner in mixture):
                raise LaunchFailed("no such library")
        log = sum(log for group, log in self.effects.items() if group <= mixture)
        if any(group <= mixture for group in self.either):
            log += self.either_log
        return math.exp(log + self.noise * self._noise())

    def _noise(self) -> float:
        draw = self._random
        self._level += draw.gauss(0, WALK)
        is_disturbed = draw.random() < DISTURBED
        extra = draw.expovariate(1 / MEAN_DISTURBANCE) if is_disturbed else 0.0
        return self._level + draw.gauss(0, OWN) + extra
