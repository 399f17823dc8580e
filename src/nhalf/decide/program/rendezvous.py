# SPDX-License-Identifier: Apache-2.0
"""The transfer of large messages: it needs a posted receive, and a receiver inside MPI.

Libraries without a progress thread move large messages only within their calls: a message that is
offered while the receiver computes waits for the receiver's next call. A message that is already
offered when its receive is posted goes at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.decide.program.actor_state import ActorState
from nhalf.facts.program.schedule import SEND, Message, Step


class Rendezvous:
    """The large messages of a replay, from their offer to the begin of their transfer."""

    def __init__(self, states: Sequence[ActorState]) -> None:
        self._by_rank: dict[int, list[ActorState]] = {}
        for state in states:
            self._by_rank.setdefault(state.actor.rank, []).append(state)
        self._posted_s: dict[Message, float] = {}
        self._offered_s: dict[Message, float] = {}
        self._ever_offered: set[Message] = set()

    def post(self, message: Message, now_s: float) -> None:
        """Record the first moment at which the receive of a message is posted."""
        self._posted_s.setdefault(message, now_s)

    def offer(self, message: Message, now_s: float) -> None:
        """Record the first moment at which the sender of a message is ready."""
        if message not in self._ever_offered:
            self._ever_offered.add(message)
            self._offered_s[message] = now_s

    def was_offered(self, message: Message) -> bool:
        """Whether a message was ever offered; small ones never are."""
        return message in self._ever_offered

    def first(self) -> tuple[Message, float] | None:
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

    def crossing(self, message: Message, before_s: float) -> tuple[Message, float] | None:
        """Take a message in the opposite direction that begins before a moment, with its begin."""
        ready = [
            (self._begin_s(opposite), opposite)
            for opposite in self._offered_s
            if opposite[:2] == (message[1], message[0]) and opposite in self._posted_s
        ]
        if not ready or min(ready)[0] >= before_s:
            return None
        begin_s, opposite = min(ready)
        self.forget(opposite)
        return opposite, begin_s

    def forget(self, message: Message) -> None:
        """Drop the offer of a message that is under way."""
        del self._offered_s[message]

    def waits_for(self, step: Step) -> list[Message]:
        """The messages that keep an actor at a step because they are still offered."""
        own = (step.message,) if step.kind == SEND and step.message else step.sends
        return [message for message in own if message in self._offered_s]

    def _begin_s(self, message: Message) -> float:
        offered_s, posted_s = self._offered_s[message], self._posted_s[message]
        if offered_s <= posted_s:
            return posted_s
        inside = (state.inside_mpi_s(offered_s) for state in self._by_rank[message[1]])
        return min((moment for moment in inside if moment is not None), default=offered_s)
