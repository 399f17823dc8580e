# SPDX-License-Identifier: Apache-2.0
"""The transfer of large messages: it needs a posted receive, and a receiver inside MPI.

Libraries without a progress thread move large messages only within their calls: a message that is
offered while the receiver computes waits for the receiver's next call. A message that is already
offered when its receive is posted goes at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.decide.program.actor_state import ActorState
from nhalf.facts.program.script import Script


class Rendezvous:
    """The large messages of a replay, from their offer to the begin of their transfer."""

    def __init__(self, states: Sequence[ActorState], script: Script) -> None:
        self._by_rank: dict[int, list[ActorState]] = {}
        for state in states:
            self._by_rank.setdefault(state.actor.rank, []).append(state)
        self._script = script
        self._posted_s: dict[int, float] = {}
        self._offered_s: dict[int, float] = {}
        self._ever_offered: set[int] = set()

    def post(self, message: int, now_s: float) -> None:
        """Record the first moment at which the receive of a message is posted."""
        self._posted_s.setdefault(message, now_s)

    def offer(self, message: int, now_s: float) -> None:
        """Record the first moment at which the sender of a message is ready."""
        if message not in self._ever_offered:
            self._ever_offered.add(message)
            self._offered_s[message] = now_s

    def was_offered(self, message: int) -> bool:
        """Whether a message was ever offered; small ones never are."""
        return message in self._ever_offered

    def is_offered(self, message: int) -> bool:
        """Whether a message still waits for its transfer."""
        return message in self._offered_s

    def first(self) -> tuple[int, float] | None:
        """Take the message whose transfer can begin first, with that moment.

        All actors have to be stuck, so that every later transfer begins later.
        """
        ready = [
            (self._begin_s(message), message)
            for message in self._offered_s
            if message in self._posted_s
        ]
        if not ready:
            return None
        begin_s, message = min(ready)
        self.forget(message)
        return message, begin_s

    def crossing(self, message: int, before_s: float) -> tuple[int, float] | None:
        """Take a message in the opposite direction that begins before a moment, with its begin."""
        source, target, _ = self._script.route_of(message)
        ready = [
            (self._begin_s(opposite), opposite)
            for opposite in self._offered_s
            if self._script.route_of(opposite)[:2] == (target, source)
            and opposite in self._posted_s
        ]
        if not ready or min(ready)[0] >= before_s:
            return None
        begin_s, opposite = min(ready)
        self.forget(opposite)
        return opposite, begin_s

    def forget(self, message: int) -> None:
        """Drop the offer of a message that is under way."""
        del self._offered_s[message]

    def _begin_s(self, message: int) -> float:
        offered_s, posted_s = self._offered_s[message], self._posted_s[message]
        if offered_s <= posted_s:
            return posted_s
        inside = (
            state.inside_mpi_s(offered_s)
            for state in self._by_rank[self._script.route_of(message)[1]]
        )
        return min((moment for moment in inside if moment is not None), default=offered_s)
