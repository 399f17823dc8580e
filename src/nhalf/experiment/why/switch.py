"""Differences between A and B: switches, which can be set to either side, and the remainder.

Two ways of running something, ready for the search: switches, and what launches a mixture.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.decide.history.around import ABSENT
from nhalf.experiment.turns import UNLIMITED, Launch, Limits, Turns

Mixture = frozenset[int]
"""The switches, by number, that stand as in B; all others stand as in A."""

SET = "set"
"""What stands for the value of an option that has none."""
A_ALONE: Mixture = frozenset()


@dataclass(frozen=True)
class SettableDifference:
    """A difference that a launch can set to either side; '–' where a side has no value."""

    name: str
    a: str
    b: str

    @property
    def title(self) -> str:
        """The difference as text: 'FI_PROVIDER: – → tcp'."""
        return f"{self.name}: {self.a} → {self.b}"

    @property
    def title_of_sides(self) -> str:
        """Both values: '– → tcp'."""
        return f"{self.a} → {self.b}"

    @property
    def as_in_b(self) -> str:
        """The switch as it stands in B: 'FI_PROVIDER=tcp', '--bind-to none', 'X left out'."""
        if self.b == ABSENT:
            return f"{self.name} left out"
        if self.name.startswith("-"):
            return self.name if self.b == SET else f"{self.name} {self.b}"
        return f"{self.name}={self.b}"

    def as_json(self) -> dict[str, str]:
        """The switch in the output of `nhalf why --json`."""
        return {"name": self.name, "a": self.a, "b": self.b}


def whole(switches: Sequence[SettableDifference]) -> Mixture:
    """B itself: every switch as in B."""
    return frozenset(range(len(switches)))


def named(
    switches: Sequence[SettableDifference], numbers: Iterable[int]
) -> list[SettableDifference]:
    """The switches with these numbers, in their order."""
    return [switches[number] for number in sorted(numbers)]


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
