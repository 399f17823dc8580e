# SPDX-License-Identifier: Apache-2.0
"""The calls of a timeline replayed: each rank does what it did, calls cost what a machine says.

Time outside of MPI is taken as measured. A message arrives so much later than its send began as the
machine says, from the threshold of rendezvous on later than both ends were there; a collective
operation ends so much later than the last rank arrived, one from a root later than the root, one to
a root waits there only. A wait takes its shortest time besides. Messages do not slow each other
down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.decide.program.costs import Costs
from nhalf.facts.program.operations import SCATTERS, operation
from nhalf.facts.program.schedule import (
    ALWAYS_WAITS,
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    Actor,
    Message,
    Step,
)

FROM_ROOT = ("bcast", *SCATTERS)
TO_ROOT = ("reduce", "gather", "gatherv")
Operation = tuple[int, int]
"""A communicator, and the number of an operation on it."""


@dataclass
class Spent:
    """Where the time of one actor goes, in seconds."""

    end_s: float = 0.0
    computing_s: float = 0.0
    messages_s: float = 0.0
    collectives_s: float = 0.0
    waiting_s: float = 0.0


@dataclass
class _Going:
    """An actor under way: its clock, its next step, whether it did the computing before that."""

    actor: Actor
    now_s: float
    at: int = 0
    computed: bool = False
    owed_s: float = 0.0
    """What large sends that do not block will take of it while it receives or waits."""
    spent: Spent = field(default_factory=Spent)

    @property
    def step(self) -> Step:
        return self.actor.steps[self.at]


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
        self._going = [_Going(actor, actor.begin_s) for actor in actors]
        self._sent: dict[Message, float] = {}
        self._offered: dict[Message, float] = {}
        """Large messages that have to wait for their receive, though their sender does not."""
        self._posted: dict[Message, float] = {}
        self._operations: dict[Operation, _Operation] = {}
        self._members, self._blocks_bytes = _operations(actors)
        sends = (step for step in _steps(actors) if step.kind == SEND)
        self._sizes = {step.message: step.size_bytes for step in sends if step.message is not None}
        receives = {step.message for step in _steps(actors) if step.kind in (RECEIVE, POST)}
        self._paired = set(self._sizes) & receives

    def run(self) -> list[Spent]:
        """What every actor spent, in their order."""
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
            if stuck and not moved and not self._force(stuck):
                self._skip(stuck)
            ready = deque(stuck)
        for one in self._going:
            one.spent.computing_s += one.actor.after_s * self.computing_factor
            one.spent.end_s = one.now_s + one.actor.after_s * self.computing_factor
        return [one.spent for one in self._going]

    def _advance(self, one: _Going) -> None:
        """As many steps as can be done now."""
        while one.at < len(one.actor.steps):
            step = one.step
            if not one.computed:
                seconds = step.before_s * self.computing_factor
                one.now_s += seconds
                one.spent.computing_s += seconds
                one.computed = True
            if not self._done(one, step):
                return
            one.at += 1
            one.computed = False

    def _done(self, one: _Going, step: Step) -> bool:
        """Whether a step could be done; the clock then stands at its end."""
        if step.kind == COLLECTIVE:
            return self._collective(one, step)
        if step.kind == SEND:
            return self._send(one, step)
        if step.kind == POST:
            if step.message is not None:
                self._posted.setdefault(step.message, one.now_s)
            return True
        if step.kind == RECEIVE:
            if step.message is None or step.message not in self._paired:
                return True
            self._posted.setdefault(step.message, one.now_s)
            return self._receive(one, (step.message,))
        paired = tuple(message for message in step.completes if message in self._paired)
        return self._receive(one, paired, step.least_s)

    def _send(self, one: _Going, step: Step) -> bool:
        message = step.message
        gone = message in self._sent or message in self._offered
        if message is None or message not in self._paired or gone:
            return True
        source, target = message[:2]
        busy_s = self.costs.busy_s(source, target, step.size_bytes)[0]
        whole_s = self.costs.message_s(source, target, step.size_bytes)
        is_large = step.size_bytes >= self.costs.rendezvous_bytes
        if not (is_large and step.blocks) and step.call not in ALWAYS_WAITS:
            if is_large:
                self._offered[message] = one.now_s
                one.owed_s += busy_s
                return True
            self._sent[message] = one.now_s + whole_s
            self._spend(one, one.now_s + busy_s, busy_s)
            return True
        if message not in self._posted:
            return False
        end_s = max(one.now_s, self._posted[message]) + whole_s
        self._sent[message] = end_s
        self._spend(one, end_s, whole_s)
        return True

    def _receive(self, one: _Going, messages: tuple[Message, ...], least_s: float = 0.0) -> bool:
        """Wait until messages are there, and take them in the order in which they arrive."""
        for message in messages:
            if message in self._offered:
                begin_s = max(self._offered.pop(message), self._posted[message])
                whole_s = self.costs.message_s(message[0], message[1], self._sizes[message])
                self._sent[message] = begin_s + whole_s
        if any(message not in self._sent for message in messages):
            return False
        own_s = least_s + one.owed_s
        end_s, one.owed_s = one.now_s + own_s, 0.0
        for message in sorted(messages, key=lambda each: self._sent[each]):
            busy_s = self.costs.busy_s(message[0], message[1], self._sizes[message])[1]
            end_s = max(end_s + busy_s, self._sent[message])
            own_s += busy_s
        self._spend(one, end_s, own_s)
        return True

    def _collective(self, one: _Going, step: Step) -> bool:
        key = (step.communicator, step.number)
        here = self._operations.setdefault(key, _Operation())
        here.arrived_s.setdefault(one.actor.rank, one.now_s)
        here.root = step.partner
        name, members = operation(step.call), self._members[key]
        needed = members
        if name in FROM_ROOT and here.root in members:
            needed = (here.root,)
        elif name in TO_ROOT and one.actor.rank != here.root and here.root in members:
            needed = (one.actor.rank,)
        if any(rank not in here.arrived_s for rank in needed):
            return False
        cost_s = self.costs.collective_s(step.call, members, self._blocks_bytes[key])
        if len(needed) < len(members) and needed[0] == one.actor.rank != here.root:
            cost_s = self.costs.busy_s(one.actor.rank, here.root, step.size_bytes)[0]
        last_s = max(here.arrived_s[rank] for rank in needed)
        end_s = max(one.now_s, last_s) + cost_s
        one.spent.collectives_s += cost_s
        one.spent.waiting_s += max(0.0, last_s - one.now_s)
        one.now_s = end_s
        return True

    def _spend(self, one: _Going, end_s: float, own_s: float) -> None:
        """Until `end_s`, of which `own_s` are spent on messages and the rest waiting."""
        whole_s = end_s - one.now_s
        one.spent.messages_s += min(own_s, whole_s)
        one.spent.waiting_s += max(0.0, whole_s - own_s)
        one.now_s = end_s

    def _force(self, stuck: Sequence[_Going]) -> bool:
        """Let the earliest waiting send go, as a library with larger buffers would."""
        sends = [one for one in stuck if one.step.kind == SEND and one.step.message is not None]
        if not sends:
            return False
        one = min(sends, key=lambda going: going.now_s)
        message = one.step.message
        assert message is not None
        whole_s = self.costs.message_s(message[0], message[1], one.step.size_bytes)
        self._sent[message] = one.now_s + whole_s
        self.forced += 1
        return True

    def _skip(self, stuck: Sequence[_Going]) -> None:
        """A trace that was cut may lack what ranks wait for: they go on after what was measured."""
        one = min(stuck, key=lambda going: going.now_s)
        self._spend(one, one.now_s + one.step.measured_s, 0.0)
        one.at += 1
        one.computed = False


def _steps(actors: Sequence[Actor]) -> Iterator[Step]:
    return (step for actor in actors for step in actor.steps)


def _operations(
    actors: Sequence[Actor],
) -> tuple[dict[Operation, tuple[int, ...]], dict[Operation, int]]:
    """The ranks that take part in each operation, and the mean of what they put in."""
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
