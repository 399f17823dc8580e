# SPDX-License-Identifier: Apache-2.0
"""Replay of a timeline: each rank makes its calls, which cost the times of a machine.

Time outside MPI is taken as measured. A message arrives the machine's message time after its send
began; from the rendezvous threshold on see rendezvous.py. A collective operation ends its cost
after the last rank arrived; one from a root its cost after the root arrived; in one to a root only
the root waits. A nonblocking one ends when it is waited for. A wait also takes its shortest
measured time. Messages do not slow each other down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nhalf.decide.program.actor_state import ActorState, Spent
from nhalf.decide.program.costs import Costs
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


@dataclass(slots=True)
class _Operation:
    """A collective operation while ranks arrive; `cost_s` from the last arrival on, once known."""

    members: tuple[int, ...]
    arrived_s: dict[int, float] = field(default_factory=dict)
    root: int = -2
    cost_s: float | None = None

    def last_s(self, name: str, rank: int) -> float | None:
        """When the last of the ranks arrived that a rank has to wait for; None before that."""
        arrived_s = self.arrived_s
        if name in FROM_ROOT and self.root in self.members:
            return arrived_s.get(self.root)
        if name in TO_ROOT and rank != self.root and self.root in self.members:
            return arrived_s.get(rank)
        return max(arrived_s.values()) if len(arrived_s) == len(self.members) else None

    def only_sends(self, name: str, rank: int) -> bool:
        """Whether a rank leaves as soon as it has sent its part to the root."""
        return name in TO_ROOT and rank != self.root and self.root in self.members


class Replay:
    """One replay; `run` returns the times of every actor.

    `members` are the ranks that take part in each operation of each communicator.
    """

    def __init__(self, actors: Sequence[Actor], costs: Costs, computing: float = 1.0) -> None:
        self.costs = costs
        self.computing_factor = computing
        self.forced = 0
        """Sends that had to go before their receive was posted, since all ranks waited."""
        self._states = [ActorState(actor, actor.begin_s) for actor in actors]
        self._large = Rendezvous(self._states)
        self._sent: dict[Message, float] = {}
        self._operations: dict[Operation, _Operation] = {}
        self._members, self._blocks_bytes = _operations(actors)
        sends = [step for step in _steps(actors) if step.kind == SEND]
        self._sizes = {step.message: step.size_bytes for step in sends if step.message is not None}
        receives = {step.message for step in _steps(actors) if step.kind in (RECEIVE, POST)}
        self._paired = self._sizes.keys() & receives
        self._has_large = any(map(self._is_large, sends))
        self._actions = {
            COLLECTIVE: self._collective,
            SEND: self._send,
            POST: self._post,
            RECEIVE: self._receive_one,
            WAIT: self._wait,
        }
        """By kind of step: do it if possible and move the clock; False if it has to wait."""

    def run(self) -> list[Spent]:
        """The times of all actors, in order."""
        ready = deque(self._states)
        while ready:
            stuck = []
            moved = False
            for state in ready:
                before = (state.position, state.computed)
                self._advance(state)
                moved |= before != (state.position, state.computed)
                if state.position < len(state.actor.steps):
                    stuck.append(state)
            if stuck and not moved and not self._transfer() and not self._force(stuck):
                self._skip(stuck)
            ready = deque(stuck)
        for state in self._states:
            state.spent.computing_s += state.actor.after_s * self.computing_factor
            state.spent.end_s = state.now_s + state.actor.after_s * self.computing_factor
        return [state.spent for state in self._states]

    def _advance(self, state: ActorState) -> None:
        """Do as many steps of an actor as possible now."""
        steps, spent, actions = state.actor.steps, state.spent, self._actions
        factor, has_large = self.computing_factor, self._has_large
        for position in range(state.position, len(steps)):
            step = steps[position]
            if not state.computed:
                seconds = step.before_s * factor
                state.now_s += seconds
                spent.computing_s += seconds
                state.computed = True
            begin_s = state.now_s
            if not actions[step.kind](state, step):
                return
            if has_large and _progresses(step):
                state.record_call(begin_s)
            state.position = position + 1
            state.computed = False

    def _post(self, state: ActorState, step: Step) -> bool:
        if self._has_large and step.message is not None:
            self._large.post(step.message, state.now_s)
        return True

    def _receive_one(self, state: ActorState, step: Step) -> bool:
        message = step.message
        if message is None or message not in self._paired:
            return True
        if self._has_large:
            self._large.post(message, state.now_s)
        return self._receive(state, (message,), step)

    def _wait(self, state: ActorState, step: Step) -> bool:
        paired = [message for message in step.completes if message in self._paired]
        return self._receive(state, paired, step)

    def _is_large(self, step: Step) -> bool:
        """Whether a send waits for its receive."""
        large = step.size_bytes >= self.costs.rendezvous_bytes or step.call in ALWAYS_WAITS
        return large and step.kind == SEND

    def _send(self, state: ActorState, step: Step) -> bool:
        message = step.message
        if message is None or message not in self._paired:
            return True
        busy_s = self.costs.busy_s(message[0], message[1], step.size_bytes)[0]
        whole_s = self.costs.message_s(message[0], message[1], step.size_bytes)
        if not (self._has_large and self._is_large(step)):
            self._sent[message] = state.now_s + whole_s
            state.spent.messages_s += busy_s
            state.now_s += busy_s
            return True
        self._large.offer(message, state.now_s)
        if not step.blocks:
            state.pending_sends_s += busy_s
            return True
        if message not in self._sent:
            return False
        self._spend(state, self._sent[message], whole_s)
        return True

    def _transfer(self) -> bool:
        """Let the large message that can go first arrive; False if none can."""
        transfer = self._large.first()
        if transfer is None:
            return False
        message, begin_s = transfer
        opposite = self._large.crossing(message, begin_s + self._whole_s(message))
        for moving, from_s in [transfer] if opposite is None else [transfer, opposite]:
            time_s = self._whole_s(moving)
            if opposite is not None:
                time_s = max(time_s, self.costs.crossing_s(*moving[:2], self._sizes[moving]))
            self._sent[moving] = from_s + time_s
        return True

    def _whole_s(self, message: Message) -> float:
        return self.costs.message_s(message[0], message[1], self._sizes[message])

    def _receive(self, state: ActorState, messages: Sequence[Message], step: Step) -> bool:
        """Wait until messages have arrived, and take them in the order of arrival.

        Large sends and operations that the call completes are waited for as well.
        """
        sent_s = self._sent
        for message in messages:
            if message not in sent_s:
                return False
        sends = self._offered(step)
        if any(message not in sent_s for message in sends):
            return False
        operations = step.operations
        if operations and any(self._last_s(state, ended) is None for ended in operations):
            return False
        now_s = state.now_s
        own_s = step.least_s + state.pending_sends_s
        end_s, state.pending_sends_s = now_s + own_s, 0.0
        for message in sorted(messages, key=sent_s.__getitem__) if messages[1:] else messages:
            arrived_s = sent_s[message]
            busy_s = self.costs.busy_s(message[0], message[1], self._sizes[message])[1]
            if arrived_s <= now_s and self._has_large and self._large.was_offered(message):
                busy_s = 0.0  # an earlier call took it
            end_s = max(end_s + busy_s, arrived_s)
            own_s += busy_s
        for message in sends:
            end_s = max(end_s, sent_s[message])
        self._spend(state, end_s, own_s)
        for ended in operations:
            self._end_operation(state, ended, self._last_s(state, ended) or 0.0)
        return True

    def _offered(self, step: Step) -> list[Message]:
        """The large sends that a step completes."""
        if not self._has_large:
            return []
        return [message for message in step.sends if self._large.was_offered(message)]

    def _collective(self, state: ActorState, step: Step) -> bool:
        key = (step.communicator, step.number)
        collective = self._operations.get(key)
        if collective is None:
            collective = self._operations[key] = _Operation(self._members[key])
        collective.arrived_s.setdefault(state.actor.rank, state.now_s)
        collective.root = step.partner
        if is_non_blocking(step.call):
            return True
        last_s = collective.last_s(operation(step.call), state.actor.rank)
        if last_s is None:
            return False
        self._end_operation(state, step, last_s)
        return True

    def _last_s(self, state: ActorState, step: Step) -> float | None:
        """When those arrived that a rank has to wait for in an operation; None before that."""
        collective = self._operations[step.communicator, step.number]
        return collective.last_s(operation(step.call), state.actor.rank)

    def _end_operation(self, state: ActorState, step: Step, last_s: float) -> None:
        key = (step.communicator, step.number)
        collective, rank = self._operations[key], state.actor.rank
        if collective.only_sends(operation(step.call), rank):
            cost_s = self.costs.busy_s(rank, collective.root, step.size_bytes)[0]
        else:
            if collective.cost_s is None:
                size_bytes = self._blocks_bytes[key]
                collective.cost_s = self.costs.collective_s(
                    step.call, collective.members, size_bytes
                )
            cost_s = collective.cost_s
        spent = state.spent
        spent.collectives_s += cost_s
        if last_s > state.now_s:
            spent.waiting_s += last_s - state.now_s
            state.now_s = last_s
        state.now_s += cost_s

    def _spend(self, state: ActorState, end_s: float, own_s: float) -> None:
        """Move the clock to `end_s`: `own_s` are spent on messages, the rest waiting."""
        whole_s = end_s - state.now_s
        state.spent.messages_s += min(own_s, whole_s)
        state.spent.waiting_s += max(0.0, whole_s - own_s)
        state.now_s = end_s

    def _force(self, stuck: Sequence[ActorState]) -> bool:
        """Release the earliest waiting send, as a library with larger buffers would."""
        waits = [state for state in stuck if self._large.waits_for(state.step)]
        if not waits:
            return False
        state = min(waits, key=lambda state: state.now_s)
        for message in self._large.waits_for(state.step):
            self._sent[message] = state.now_s + self._whole_s(message)
            self._large.forget(message)
        self.forced += state.step.kind == SEND
        return True

    def _skip(self, stuck: Sequence[ActorState]) -> None:
        """A truncated trace may lack what ranks wait for: they continue after the measured time."""
        state = min(stuck, key=lambda state: state.now_s)
        self._spend(state, state.now_s + state.step.measured_s, 0.0)
        state.position += 1
        state.computed = False


def _progresses(step: Step) -> bool:
    """Whether a call progresses pending messages; one that only begins an operation does not."""
    if step.kind == COLLECTIVE:
        return not is_non_blocking(step.call)
    return step.kind in (RECEIVE, WAIT) or step.blocks


def _steps(actors: Sequence[Actor]) -> Iterator[Step]:
    return (step for actor in actors for step in actor.steps)


def _operations(
    actors: Sequence[Actor],
) -> tuple[dict[Operation, tuple[int, ...]], dict[Operation, int]]:
    """The ranks that take part in each operation, and the mean size of their input."""
    input_bytes: dict[Operation, dict[int, int]] = {}
    roots: dict[Operation, int] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                key = (step.communicator, step.number)
                input_bytes.setdefault(key, {})[actor.rank] = step.size_bytes
                if operation(step.call) in SCATTERS:
                    roots[key] = step.partner
    members = {key: tuple(sorted(sizes)) for key, sizes in input_bytes.items()}
    means: dict[Operation, int] = {}
    for key, sizes in input_bytes.items():
        # The root of a scatter holds all blocks; the other ranks have the size of one.
        non_root_sizes = [size for rank, size in sizes.items() if rank != roots.get(key)]
        means[key] = sum(non_root_sizes or sizes.values()) // len(non_root_sizes or sizes)
    return members, means
