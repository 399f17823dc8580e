# SPDX-License-Identifier: Apache-2.0
"""Replay of a timeline: each rank makes its calls, which cost the times of a machine.

Time outside MPI is taken as measured. A message arrives so much later than its send began as the
machine says; from the threshold of rendezvous on see rendezvous.py. A collective operation ends so
much later than the last rank arrived, one from a root later than the root, one to a root waits
there only; one that does not block is over when it is waited for. A wait takes its shortest time
besides. Messages do not slow each other down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.decide.program.costs import Costs
from nhalf.decide.program.going import Going, Spent
from nhalf.decide.program.rendezvous import Rendezvous
from nhalf.facts.program.operations import SCATTERS, is_non_blocking, operation
from nhalf.facts.program.schedule import (
    ALWAYS_WAITS,
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    WAIT,
    Actor,
    Message,
    Step,
)

FROM_ROOT = ("bcast", *SCATTERS)
TO_ROOT = ("reduce", "gather", "gatherv")
Operation = tuple[int, int]
"""A communicator, and the number of an operation on it."""


@dataclass
class _Operation:
    """A collective operation while ranks arrive."""

    arrived_s: dict[int, float] = field(default_factory=dict)
    root: int = -2


class Replay:
    """One replay; `run` gives what every actor spent.

    `members` are the ranks that take part in each operation of each communicator.
    """

    def __init__(self, actors: Sequence[Actor], costs: Costs, computing: float = 1.0) -> None:
        self.costs = costs
        self.computing_factor = computing
        self.forced = 0
        """Sends that had to go before their receive was there, since all ranks waited."""
        self._going = [Going(actor, actor.begin_s) for actor in actors]
        self._large = Rendezvous(self._going)
        self._sent: dict[Message, float] = {}
        self._operations: dict[Operation, _Operation] = {}
        self._members, self._blocks_bytes = _operations(actors)
        sends = (step for step in _steps(actors) if step.kind == SEND)
        self._sizes = {step.message: step.size_bytes for step in sends if step.message is not None}
        receives = {step.message for step in _steps(actors) if step.kind in (RECEIVE, POST)}
        self._paired = set(self._sizes) & receives

    def run(self) -> list[Spent]:
        """The times of all actors, in order."""
        ready = deque(self._going)
        while ready:
            stuck = []
            moved = False
            for one in ready:
                before = (one.at, one.computed)
                self._advance(one)
                moved |= before != (one.at, one.computed)
                if one.at < len(one.actor.steps):
                    stuck.append(one)
            if stuck and not moved and not self._transfer() and not self._force(stuck):
                self._skip(stuck)
            ready = deque(stuck)
        for one in self._going:
            one.spent.computing_s += one.actor.after_s * self.computing_factor
            one.spent.end_s = one.now_s + one.actor.after_s * self.computing_factor
        return [one.spent for one in self._going]

    def _advance(self, one: Going) -> None:
        """As many steps as can be done now."""
        while one.at < len(one.actor.steps):
            step = one.step
            if not one.computed:
                seconds = step.before_s * self.computing_factor
                one.now_s += seconds
                one.spent.computing_s += seconds
                one.computed = True
            begin_s = one.now_s
            if not self._done(one, step):
                return
            if _attends(step):
                one.was_inside(begin_s)
            one.at += 1
            one.computed = False

    def _done(self, one: Going, step: Step) -> bool:
        """Whether a step could be done; the clock then stands at its end."""
        if step.kind == COLLECTIVE:
            return self._collective(one, step)
        if step.kind == SEND:
            return self._send(one, step)
        if step.kind == POST:
            if step.message is not None:
                self._large.post(step.message, one.now_s)
            return True
        if step.kind == RECEIVE:
            if step.message is None or step.message not in self._paired:
                return True
            self._large.post(step.message, one.now_s)
            return self._receive(one, (step.message,), step)
        paired = tuple(message for message in step.completes if message in self._paired)
        return self._receive(one, paired, step)

    def _send(self, one: Going, step: Step) -> bool:
        message = step.message
        if message is None or message not in self._paired:
            return True
        source, target = message[:2]
        busy_s = self.costs.busy_s(source, target, step.size_bytes)[0]
        whole_s = self.costs.message_s(source, target, step.size_bytes)
        if step.size_bytes < self.costs.rendezvous_bytes and step.call not in ALWAYS_WAITS:
            self._sent[message] = one.now_s + whole_s
            self._spend(one, one.now_s + busy_s, busy_s)
            return True
        self._large.offer(message, one.now_s)
        if not step.blocks:
            one.owed_s += busy_s
            return True
        if message not in self._sent:
            return False
        self._spend(one, self._sent[message], whole_s)
        return True

    def _transfer(self) -> bool:
        """Let the large message that can go first arrive; False if none can."""
        found = self._large.first()
        if found is None:
            return False
        message, begin_s = found
        other = self._large.crossing(message, begin_s + self._whole_s(message))
        for one, from_s in [found] if other is None else [found, other]:
            time_s = self._whole_s(one)
            if other is not None:
                time_s = max(time_s, self.costs.crossing_s(*one[:2], self._sizes[one]))
            self._sent[one] = from_s + time_s
        return True

    def _whole_s(self, message: Message) -> float:
        return self.costs.message_s(message[0], message[1], self._sizes[message])

    def _receive(self, one: Going, messages: tuple[Message, ...], step: Step) -> bool:
        """Wait until messages are there, and take them in the order in which they arrive.

        Large sends and operations that the call completes are waited for as well.
        """
        sends = [message for message in step.sends if self._large.is_known(message)]
        if any(message not in self._sent for message in (*messages, *sends)):
            return False
        if not all(self._is_there(one, each) for each in step.operations):
            return False
        own_s = step.least_s + one.owed_s
        end_s, one.owed_s = one.now_s + own_s, 0.0
        for message in sorted(messages, key=lambda each: self._sent[each]):
            arrived_s = self._sent[message]
            busy_s = self.costs.busy_s(message[0], message[1], self._sizes[message])[1]
            if self._large.is_known(message) and arrived_s <= one.now_s:
                busy_s = 0.0  # it was taken in a call before
            end_s = max(end_s + busy_s, arrived_s)
            own_s += busy_s
        end_s = max([end_s, *(self._sent[message] for message in sends)])
        self._spend(one, end_s, own_s)
        for each in step.operations:
            self._end_operation(one, each)
        return True

    def _collective(self, one: Going, step: Step) -> bool:
        here = self._operations.setdefault((step.communicator, step.number), _Operation())
        here.arrived_s.setdefault(one.actor.rank, one.now_s)
        here.root = step.partner
        if is_non_blocking(step.call):
            return True
        if not self._is_there(one, step):
            return False
        self._end_operation(one, step)
        return True

    def _needed(self, one: Going, step: Step) -> tuple[int, ...]:
        """The ranks that have to arrive before a rank is done with an operation."""
        key = (step.communicator, step.number)
        name, members, root = operation(step.call), self._members[key], self._operations[key].root
        if name in FROM_ROOT and root in members:
            return (root,)
        if name in TO_ROOT and one.actor.rank != root and root in members:
            return (one.actor.rank,)
        return members

    def _is_there(self, one: Going, step: Step) -> bool:
        here = self._operations[step.communicator, step.number]
        return all(rank in here.arrived_s for rank in self._needed(one, step))

    def _end_operation(self, one: Going, step: Step) -> None:
        key = (step.communicator, step.number)
        here, members, needed = self._operations[key], self._members[key], self._needed(one, step)
        cost_s = self.costs.collective_s(step.call, members, self._blocks_bytes[key])
        if len(needed) < len(members) and needed[0] == one.actor.rank != here.root:
            cost_s = self.costs.busy_s(one.actor.rank, here.root, step.size_bytes)[0]
        last_s = max(here.arrived_s[rank] for rank in needed)
        end_s = max(one.now_s, last_s) + cost_s
        one.spent.collectives_s += cost_s
        one.spent.waiting_s += max(0.0, last_s - one.now_s)
        one.now_s = end_s

    def _spend(self, one: Going, end_s: float, own_s: float) -> None:
        """Until `end_s`, of which `own_s` are spent on messages and the rest waiting."""
        whole_s = end_s - one.now_s
        one.spent.messages_s += min(own_s, whole_s)
        one.spent.waiting_s += max(0.0, whole_s - own_s)
        one.now_s = end_s

    def _force(self, stuck: Sequence[Going]) -> bool:
        """Release the earliest waiting send, as a library with larger buffers would."""
        waits = [one for one in stuck if self._large.waits_for(one.step)]
        if not waits:
            return False
        one = min(waits, key=lambda going: going.now_s)
        for message in self._large.waits_for(one.step):
            self._sent[message] = one.now_s + self._whole_s(message)
            self._large.forget(message)
        self.forced += one.step.kind == SEND
        return True

    def _skip(self, stuck: Sequence[Going]) -> None:
        """A truncated trace may lack what ranks wait for: they continue after the measured time."""
        one = min(stuck, key=lambda going: going.now_s)
        self._spend(one, one.now_s + one.step.measured_s, 0.0)
        one.at += 1
        one.computed = False


def _attends(step: Step) -> bool:
    """Whether a call moves what is under way as well: one that only begins something does not."""
    if step.kind == COLLECTIVE:
        return not is_non_blocking(step.call)
    return step.kind in (RECEIVE, WAIT) or step.blocks


def _steps(actors: Sequence[Actor]) -> Iterator[Step]:
    return (step for actor in actors for step in actor.steps)


def _operations(
    actors: Sequence[Actor],
) -> tuple[dict[Operation, tuple[int, ...]], dict[Operation, int]]:
    """The ranks that take part in each operation, and the mean size of their input."""
    given: dict[Operation, dict[int, int]] = {}
    roots: dict[Operation, int] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                key = (step.communicator, step.number)
                given.setdefault(key, {})[actor.rank] = step.size_bytes
                if operation(step.call) in SCATTERS:
                    roots[key] = step.partner
    members = {key: tuple(sorted(sizes)) for key, sizes in given.items()}
    means: dict[Operation, int] = {}
    for key, sizes in given.items():
        # The root of a scatter puts in all blocks, others say how large theirs are.
        others = [size for rank, size in sizes.items() if rank != roots.get(key)]
        means[key] = sum(others or sizes.values()) // len(others or sizes)
    return members, means
