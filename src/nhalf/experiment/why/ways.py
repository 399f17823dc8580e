"""Two ways of running something, ready for the search: switches, and what launches a mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.experiment.turns import UNLIMITED, Launch, Limits, Turns
from nhalf.experiment.why.switch import Mixture, SettableDifference

FAILURES_MAX = 2
"""A mixture that failed this often in a row does not run."""


def turns_of(
    launch: Launch[Mixture],
    *,
    are_exact: bool = False,
    budget_s: float = math.inf,
    seed: int = 1,
    limits: Limits = UNLIMITED,
) -> Turns[Mixture]:
    """Turns of mixtures; where times are exact, each is launched once, whether it runs or fails."""
    return Turns(
        launch,
        budget_s,
        seed=seed,
        limits=limits,
        exact_launches=1 if are_exact else 0,
        failures_max=1 if are_exact else FAILURES_MAX,
    )


@dataclass(frozen=True)
class Ways:
    """A and B as `switches` between them, and the function that launches a mixture.

    `not_tried` are recorded differences that cannot be switched. Times `are_exact` if every launch
    takes the same. `recorded_ratio` is B's time over A's as it was recorded, None without a record,
    and `timed` says what is timed.
    """

    switches: Sequence[SettableDifference]
    launch: Launch[Mixture]
    timed: str
    not_tried: Sequence[SettableDifference] = ()
    are_exact: bool = False
    recorded_ratio: float | None = None
    is_recorded_different: bool = False
    limits: Limits = UNLIMITED

    def turns(self, budget_s: float = math.inf, seed: int = 1) -> Turns[Mixture]:
        """The launches of a search that has not begun."""
        return turns_of(
            self.launch, are_exact=self.are_exact, budget_s=budget_s, seed=seed, limits=self.limits
        )

    def as_json(self) -> dict[str, Any]:
        """The differences in the output of `nhalf why --json`."""
        return {
            "timed": self.timed,
            "exact": self.are_exact,
            "recorded_ratio": self.recorded_ratio,
            "switches": [switch.as_json() for switch in self.switches],
            "not_tried": [switch.as_json() for switch in self.not_tried],
        }
