# SPDX-License-Identifier: Apache-2.0
"""The state of a thread of a rank while its calls are replayed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Numbers


@dataclass(slots=True)
class Spent:
    """The parts of the time of one actor, in seconds."""

    end_s: float = 0.0
    computing_s: float = 0.0
    messages_s: float = 0.0
    collectives_s: float = 0.0
    waiting_s: float = 0.0
    least_s: float = 0.0
    """Without the order of calls: the end if messages overlap computing and nobody waits."""


@dataclass(slots=True)
class ActorState:
    """An actor during the replay: its clock, its next step, whether it computed before that."""

    actor: Actor
    awaited: Mapping[int, Numbers]
    """By step: the messages that it completes as a wait."""
    operations: Mapping[int, Sequence[int]]
    """By step: the operations that it completes as a wait."""
    now_s: float
    position: int = 0
    computed: bool = False
    pending_sends_s: float = 0.0
    """Processor time of large nonblocking sends, spent during its next receive or wait."""
    spent: Spent = field(default_factory=Spent)
    call_begins_s: list[float] = field(default_factory=list)
    """When each call so far began; `call_ends_s` has their ends."""
    call_ends_s: list[float] = field(default_factory=list)

    def record_call(self, begin_s: float) -> None:
        """Record a call that began at `begin_s` and ends now."""
        self.call_begins_s.append(begin_s)
        self.call_ends_s.append(self.now_s)

    def inside_mpi_s(self, from_s: float) -> float | None:
        """The first moment inside MPI from `from_s` on; None if there is none.

        An actor with steps left has been inside MPI since its clock stopped.
        """
        call = bisect_left(self.call_ends_s, from_s)
        if call < len(self.call_ends_s):
            return max(from_s, self.call_begins_s[call])
        return max(from_s, self.now_s) if self.position < len(self.actor.form) else None
