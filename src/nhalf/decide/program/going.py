# SPDX-License-Identifier: Apache-2.0
"""A thread of a rank while its calls are replayed."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from nhalf.facts.program.schedule import Actor, Step


@dataclass
class Spent:
    """Where the time of one actor goes, in seconds."""

    end_s: float = 0.0
    computing_s: float = 0.0
    messages_s: float = 0.0
    collectives_s: float = 0.0
    waiting_s: float = 0.0


@dataclass
class Going:
    """An actor under way: its clock, its next step, whether it did the computing before that."""

    actor: Actor
    now_s: float
    at: int = 0
    computed: bool = False
    owed_s: float = 0.0
    """What large sends that do not block will take of it while it receives or waits."""
    spent: Spent = field(default_factory=Spent)
    begins_s: list[float] = field(default_factory=list)
    """Of the calls so far, with `ends_s`."""
    ends_s: list[float] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """The next one."""
        return self.actor.steps[self.at]

    def was_inside(self, begin_s: float) -> None:
        """A call that began then is over now."""
        self.begins_s.append(begin_s)
        self.ends_s.append(self.now_s)

    def inside_s(self, from_s: float) -> float | None:
        """When it is first inside MPI from a moment on; None if it is not again.

        An actor that is not at its end is inside since its clock stopped.
        """
        at = bisect_left(self.ends_s, from_s)
        if at < len(self.ends_s):
            return max(from_s, self.begins_s[at])
        return max(from_s, self.now_s) if self.at < len(self.actor.steps) else None
