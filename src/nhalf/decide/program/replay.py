# SPDX-License-Identifier: Apache-2.0
"""Replay of a timeline: each rank makes its calls, which cost the times of a machine.

Time outside MPI is taken as measured. A message arrives the machine's message time after its send
began; from the rendezvous threshold on see rendezvous.py. A collective operation ends its cost
after the last rank arrived; one from a root its cost after the root arrived; in one to a root only
the root waits. A nonblocking one ends when it is waited for. A wait also takes its shortest
measured time. Messages do not slow each other down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from nhalf.decide.program.actor_state import ActorState, Spent
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.rendezvous import Rendezvous
from nhalf.facts.program.completions import CallForm
from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.schedule import (
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    WAIT,
)
from nhalf.facts.program.script import Numbers, Operation, Script


@dataclass(slots=True)
class _Operation:
    """A collective operation while ranks arrive; `cost_s` from the last arrival on, once known."""

    members: tuple[int, ...]
    arrived_s: dict[int, float] = field(default_factory=dict)
    latest_s: float = -math.inf
    root: int = -2
    cost_s: float | None = None

    def arrive(self, rank: int, now_s: float, root: int) -> None:
        """Note when a rank arrived first."""
        self.root = root
        if rank not in self.arrived_s:
            self.arrived_s[rank] = now_s
            self.latest_s = max(self.latest_s, now_s)

    def last_s(self, role: _Role, rank: int) -> float | None:
        """When the last of the ranks arrived that a rank has to wait for; None before that."""
        if role.from_root and self.root in self.members:
            return self.arrived_s.get(self.root)
        if self.only_sends(role, rank):
            return self.arrived_s.get(rank)
        return self.latest_s if len(self.arrived_s) == len(self.members) else None

    def only_sends(self, role: _Role, rank: int) -> bool:
        """Whether a rank leaves as soon as it has sent its part to the root."""
        return role.to_root and rank != self.root and self.root in self.members


@dataclass(frozen=True, slots=True)
class _Role:
    """What a call means for its ranks: who waits for whom, and whether another call ends it."""

    from_root: bool
    to_root: bool
    is_begun: bool

    @classmethod
    def of(cls, form: CallForm) -> _Role:
        """The role of a call; of one that is no operation it is not asked."""
        name = operation(form.call)
        return cls(name in FROM_ROOT, name in TO_ROOT, is_non_blocking(form.call))


class Replay:
    """One replay; `run` returns the times of every actor."""

    def __init__(self, script: Script, costs: Costs, computing: float = 1.0) -> None:
        self.costs = costs
        self.computing_factor = computing
        self.forced = 0
        """Sends that had to go before their receive was posted, since all ranks waited."""
        self._script = script
        self._states = [
            ActorState(actor, awaited, actor.operations_by_wait, actor.begin_s)
            for actor, awaited in zip(script.actors, script.awaited, strict=True)
        ]
        self._large = Rendezvous(self._states, script)
        self._sent_s: list[float | None] = [None] * len(script.route)
        """When the data of each message arrives, once that is known."""
        self._operations: dict[Operation, _Operation] = {}
        whole_s = np.array([costs.message_s(*route) for route in script.routes])
        busy_s = np.array([costs.busy_s(*route) for route in script.routes]).reshape(-1, 2)
        sizes = np.array([size_bytes for _, _, size_bytes in script.routes])
        is_large = sizes >= costs.rendezvous_bytes
        route = script.route
        self._whole_s: list[float] = whole_s[route].tolist()
        self._sends_s: list[float] = busy_s[route, 0].tolist()
        self._receives_s: list[float] = busy_s[route, 1].tolist()
        self._is_large: list[bool] = (is_large[route] | script.always_waits).tolist()
        """By message: from send to arrival, processor time at both ends, whether a send waits."""
        self._has_large = has_large_sends(script, costs)
        actions: dict[str, Callable[[ActorState, int], bool]] = {
            COLLECTIVE: self._collective,
            SEND: self._send,
            POST: self._post,
            RECEIVE: self._receive,
            WAIT: self._wait,
        }
        self._actions = [actions[form.kind] for form in script.forms]
        """By form of step: do it if possible and move the clock; False if it has to wait."""
        self._progresses = [self._has_large and _progresses(form) for form in script.forms]
        self._roles = [_Role.of(form) for form in script.forms]
        self._waits_s = shortest_waits_s(script, costs)
        """By form of step: the shortest time of a wait's call."""

    def run(self) -> list[Spent]:
        """The times of all actors, in order."""
        ready = self._states
        while ready:
            stuck = []
            moved = False
            for state in ready:
                before = (state.position, state.computed)
                self._advance(state)
                moved |= before != (state.position, state.computed)
                if state.position < len(state.actor.form):
                    stuck.append(state)
            if stuck and not moved and not self._transfer() and not self._force(stuck):
                self._skip(stuck)
            ready = stuck
        for state in self._states:
            state.spent.computing_s += state.actor.after_s * self.computing_factor
            state.spent.end_s = state.now_s + state.actor.after_s * self.computing_factor
        return [state.spent for state in self._states]

    def _advance(self, state: ActorState) -> None:
        """Do as many steps of an actor as possible now."""
        forms, before_s, spent = state.actor.form, state.actor.before_s, state.spent
        actions, progresses = self._actions, self._progresses
        factor, computed = self.computing_factor, state.computed
        for place in range(state.position, len(forms)):
            form = forms[place]
            if not computed:
                seconds = before_s[place] * factor
                state.now_s += seconds
                spent.computing_s += seconds
            begin_s = state.now_s
            computed = not actions[form](state, place)
            if computed:
                state.position, state.computed = place, True
                return
            if progresses[form]:
                state.record_call(begin_s)
        state.position, state.computed = len(forms), False

    def _post(self, state: ActorState, place: int) -> bool:
        message = state.actor.message[place]
        if self._has_large and message >= 0:
            self._large.post(message, state.now_s)
        return True

    def _receive(self, state: ActorState, place: int) -> bool:
        """Wait for a message if both of its ends were traced."""
        message = state.actor.message[place]
        if message < 0:
            return True
        if self._has_large:
            self._large.post(message, state.now_s)
            return self._take(state, place, (message,))
        arrived_s = self._sent_s[message]
        if arrived_s is None:
            return False
        busy_s = self._receives_s[message]
        self._spend(state, max(state.now_s + busy_s, arrived_s), busy_s)
        return True

    def _wait(self, state: ActorState, place: int) -> bool:
        return self._take(state, place, state.awaited.get(place, ()))

    def _send(self, state: ActorState, place: int) -> bool:
        message = state.actor.message[place]
        if message < 0:
            return True
        busy_s = self._sends_s[message]
        if not self._is_large[message]:
            self._sent_s[message] = state.now_s + self._whole_s[message]
            state.spent.messages_s += busy_s
            state.now_s += busy_s
            return True
        self._large.offer(message, state.now_s)
        if not state.actor.form_at(place).blocks:
            state.pending_sends_s += busy_s
            return True
        arrived_s = self._sent_s[message]
        if arrived_s is None:
            return False
        self._spend(state, arrived_s, self._whole_s[message])
        return True

    def _transfer(self) -> bool:
        """Let the large message that can go first arrive; False if none can."""
        transfer = self._large.first()
        if transfer is None:
            return False
        message, begin_s = transfer
        opposite = self._large.crossing(message, begin_s + self._whole_s[message])
        for moving, from_s in [transfer] if opposite is None else [transfer, opposite]:
            time_s = self._whole_s[moving]
            if opposite is not None:
                time_s = max(time_s, self.costs.crossing_s(*self._script.route_of(moving)))
            self._sent_s[moving] = from_s + time_s
        return True

    def _take(self, state: ActorState, place: int, messages: Numbers) -> bool:
        """Wait until messages have arrived, and take them in the order of arrival.

        Large sends and operations that the call completes are waited for as well.
        """
        has_large, operations = self._has_large, state.operations.get(place, ())
        sends = self._offered(state, place) if has_large else ()
        if not self._has_arrived(messages) or not self._has_arrived(sends):
            return False
        if operations and any(self._last_s(state, ended) is None for ended in operations):
            return False
        now_s, sent_s = state.now_s, cast("list[float]", self._sent_s)
        own_s = self._waits_s[state.actor.form[place]] + state.pending_sends_s
        end_s, state.pending_sends_s = now_s + own_s, 0.0
        for message in sorted(messages, key=sent_s.__getitem__) if messages[1:] else messages:
            busy_s, arrived_s = self._receives_s[message], sent_s[message]
            if has_large and arrived_s <= now_s and self._large.was_offered(message):
                busy_s = 0.0  # an earlier call took it
            end_s = max(end_s + busy_s, arrived_s)
            own_s += busy_s
        for sent in sends:
            end_s = max(end_s, sent_s[sent])
        self._spend(state, end_s, own_s)
        for ended in operations:
            self._end_operation(state, ended, self._last_s(state, ended) or 0.0)
        return True

    def _has_arrived(self, messages: Sequence[int]) -> bool:
        """Whether it is known of each of these when it arrives."""
        sent_s = self._sent_s
        for message in messages:  # noqa: SIM110 - a generator takes three times as long
            if sent_s[message] is None:
                return False
        return True

    def _offered(self, state: ActorState, place: int) -> list[int]:
        """The large sends that a step completes."""
        sends = [state.actor.message[sent] for sent in state.actor.sends_of(place)]
        return [message for message in sends if self._large.was_offered(message)]

    def _collective(self, state: ActorState, place: int) -> bool:
        actor = state.actor
        key, role = actor.operation[place], self._roles[actor.form[place]]
        collective = self._operations.get(key)
        if collective is None:
            collective = self._operations[key] = _Operation(self._script.gatherings[key].members)
        collective.arrive(actor.rank, state.now_s, actor.partner[place])
        if role.is_begun:
            return True
        last_s = collective.last_s(role, actor.rank)
        if last_s is None:
            return False
        self._end_operation(state, place, last_s)
        return True

    def _last_s(self, state: ActorState, place: int) -> float | None:
        """When those arrived that a rank has to wait for in an operation; None before that."""
        collective = self._operations[state.actor.operation[place]]
        return collective.last_s(self._roles[state.actor.form[place]], state.actor.rank)

    def _end_operation(self, state: ActorState, place: int, last_s: float) -> None:
        rank, key = state.actor.rank, state.actor.operation[place]
        collective = self._operations[key]
        if collective.only_sends(self._roles[state.actor.form[place]], rank):
            size_bytes = state.actor.size_bytes[place]
            cost_s = self.costs.busy_s(rank, collective.root, size_bytes)[0]
        else:
            if collective.cost_s is None:
                size_bytes = self._script.gatherings[key].blocks_bytes
                call = state.actor.form_at(place).call
                collective.cost_s = self.costs.collective_s(call, collective.members, size_bytes)
            cost_s = collective.cost_s
        spent = state.spent
        spent.collectives_s += cost_s
        if last_s > state.now_s:
            spent.waiting_s += last_s - state.now_s
            state.now_s = last_s
        state.now_s += cost_s

    def _spend(self, state: ActorState, end_s: float, own_s: float) -> None:
        """Move the clock to `end_s`: `own_s` are spent on messages, the rest waiting."""
        whole_s, spent = end_s - state.now_s, state.spent
        if whole_s > own_s:
            spent.messages_s += own_s
            spent.waiting_s += whole_s - own_s
        else:
            spent.messages_s += whole_s
        state.now_s = end_s

    def _force(self, stuck: Sequence[ActorState]) -> bool:
        """Release the earliest waiting send, as a library with larger buffers would."""
        waits = [state for state in stuck if self._held_by(state)]
        if not waits:
            return False
        state = min(waits, key=lambda state: state.now_s)
        for message in self._held_by(state):
            self._sent_s[message] = state.now_s + self._whole_s[message]
            self._large.forget(message)
        self.forced += state.actor.form_at(state.position).kind == SEND
        return True

    def _held_by(self, state: ActorState) -> list[int]:
        """The messages that keep an actor at its step because they are still offered."""
        actor, place = state.actor, state.position
        is_send = actor.form_at(place).kind == SEND
        sends = [place] if is_send else actor.sends_of(place)
        return [
            message
            for message in (actor.message[sent] for sent in sends)
            if self._large.is_offered(message)
        ]

    def _skip(self, stuck: Sequence[ActorState]) -> None:
        """A truncated trace may lack what ranks wait for: they continue after the measured time."""
        state = min(stuck, key=lambda state: state.now_s)
        measured_s = state.actor.measured_s[state.position]
        self._spend(state, state.now_s + measured_s, 0.0)
        state.position += 1
        state.computed = False


def shortest_waits_s(script: Script, costs: Costs) -> list[float]:
    """By form: the shortest time of a wait's call; 0 of other forms, and if calls take none."""
    if not costs.calls_take_time:
        return [0.0] * len(script.forms)
    least_s = next((actor.least_s for actor in script.actors if actor.forms), {})
    return [least_s.get(form.call, 0.0) if form.kind == WAIT else 0.0 for form in script.forms]


def has_large_sends(script: Script, costs: Costs) -> bool:
    """Whether some sends wait for their receives."""
    return script.largest_bytes >= costs.rendezvous_bytes or script.any_always_waits


def _progresses(form: CallForm) -> bool:
    """Whether a call progresses pending messages; one that only begins an operation does not."""
    if form.kind == COLLECTIVE:
        return not is_non_blocking(form.call)
    return form.kind in (RECEIVE, WAIT) or form.blocks
