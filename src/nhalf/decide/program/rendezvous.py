# SPDX-License-Identifier: Apache-2.0
"""When the data of large messages goes: its receive has to be there, and its receiver inside MPI.

Libraries move large messages within their calls only, unless a thread of theirs does so: what is
offered while the receiver computes waits for the receiver's next call. Messages that are there when
their receive is posted go at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.decide.program.going import Going
from nhalf.facts.program.schedule import SEND, Message, Step


class Rendezvous:
    """The large messages of a replay, from their offer to when they go."""

    def __init__(self, going: Sequence[Going]) -> None:
        self._by_rank: dict[int, list[Going]] = {}
        for one in going:
            self._by_rank.setdefault(one.actor.rank, []).append(one)
        self._posted_s: dict[Message, float] = {}
        self._offered_s: dict[Message, float] = {}
        self._known: set[Message] = set()

    def post(self, message: Message, now_s: float) -> None:
        """A receive is there from now on, if it was not before."""
        self._posted_s.setdefault(message, now_s)

    def offer(self, message: Message, now_s: float) -> None:
        """A sender has data, from now on if not before."""
        if message not in self._known:
            self._known.add(message)
            self._offered_s[message] = now_s

    def is_known(self, message: Message) -> bool:
        """Whether a message was ever offered: small ones never are."""
        return message in self._known

    def first(self) -> tuple[Message, float] | None:
        """The message that can go first, and when; it is no longer offered then.

        All actors have to be stuck: whatever else goes then goes later.
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
        """A message the other way that goes before a moment, and when; no longer offered then."""
        ready = [
            (self._begin_s(other), other)
            for other in self._offered_s
            if other[:2] == (message[1], message[0]) and other in self._posted_s
        ]
        if not ready or min(ready)[0] >= before_s:
            return None
        begin_s, other = min(ready)
        self.forget(other)
        return other, begin_s

    def forget(self, message: Message) -> None:
        """A message is under way."""
        del self._offered_s[message]

    def waits_for(self, step: Step) -> list[Message]:
        """The messages that keep an actor at a step because they are still offered."""
        own = (step.message,) if step.kind == SEND and step.message else step.sends
        return [message for message in own if message in self._offered_s]

    def _begin_s(self, message: Message) -> float:
        offered_s, posted_s = self._offered_s[message], self._posted_s[message]
        if offered_s <= posted_s:
            return posted_s
        inside = (one.inside_s(offered_s) for one in self._by_rank[message[1]])
        return min((moment for moment in inside if moment is not None), default=offered_s)
