"""A candidate: something that may make a program faster, and how much it can save at most."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.experiment.improve.change import LaunchChange

LEAST_SHARE = 0.01
"""Candidates that can save less than this share of the time are not tried."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A change of the launch: `text` says what it does, `undo` how to take it back.

    `upper_share` is the largest share of the time that it can save, `expected_share` the share by
    which candidates are ordered.
    """

    name: str
    text: str
    undo: str
    change: LaunchChange
    upper_share: float = 1.0
    expected_share: float = 0.0

    @property
    def is_worth_a_launch(self) -> bool:
        """Whether it can save as much as matters."""
        return self.upper_share >= LEAST_SHARE

    def excludes(self, winner: Candidate) -> bool:
        """Whether it changes what a winner changes; what a winner takes away can be set upon it."""
        is_replacement = winner.change.only_removes and not self.change.only_removes
        return self.change.excludes(winner.change) and not is_replacement


Setting = tuple[Candidate, ...]
"""Candidates together; the empty one is the plain program."""
PLAIN: Setting = ()


def in_order(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates to try, the largest expected saving first."""
    return sorted(
        (candidate for candidate in candidates if candidate.is_worth_a_launch),
        key=lambda candidate: (-candidate.expected_share, candidate.name),
    )


def title(setting: Setting) -> str:
    """The name of a setting."""
    return " and ".join(candidate.name for candidate in setting) or "plain"
