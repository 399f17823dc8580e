"""Differences between A and B: switches, which can be set to either side, and the remainder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nhalf.decide.history.around import ABSENT

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
