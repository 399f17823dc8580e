# SPDX-License-Identifier: Apache-2.0
"""Contention: what each message and operation of a trace took beyond its cost; a replay with it.

Costs are those of a message alone. In the program messages slow each other down, ranks lose their
core, and a library polls others: the replay of a slower network keeps what each message and
operation of the trace lost that way, so that a replay without a change is the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.program.actor_state import ActorState
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.ports import Incoming, Ports, before_each
from nhalf.decide.program.replay import Replay
from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.schedule import COLLECTIVE, RECEIVE, SEND, WAIT, Actor
from nhalf.facts.program.script import Numbers, Operation, Script

WAITED = 0.1
"""A receive that takes longer than its own time by more than this share of it has waited, if its
message is due then, or it takes longer by that share of a message's time.
"""
STREAMED = 0.5
"""A blocking send that takes this share of what its bytes take ends when they have left."""
_Arrival = tuple[float, float, Numbers]
"""When a call began and ended, and the messages that it completes."""


@dataclass(frozen=True)
class Contention:
    """Seconds beyond the costs: by message on its way, in its send and its receive; by operation
    and rank.

    `before` is the message that came into the same rank before, `streams_bytes` the size of each
    message whose send ends when its bytes have left, else 0.
    """

    transits_s: Floats
    sends_s: Floats
    receives_s: Floats
    before: NDArray[np.int64]
    streams_bytes: NDArray[np.int64]
    operations_s: Mapping[tuple[Operation, int], float]


class ContentionReplay(Replay):
    """A replay with the contention of each message and operation.

    Messages leave a rank and come into one in turn; a byte of a send that streams keeps its sender
    for `byte_s` more.
    """

    def __init__(
        self, script: Script, costs: Costs, contention: Contention, byte_s: float = 0.0
    ) -> None:
        super().__init__(script, costs)
        self._operations_s = contention.operations_s
        self._ports = Ports(script, costs)
        self._incoming = Incoming(contention.before, self._ports.occupancy_s, contention.transits_s)
        streams_s = contention.streams_bytes * byte_s
        self._sends_s = (np.array(self._sends_s) + contention.sends_s + streams_s).tolist()
        self._receives_s = (np.array(self._receives_s) + contention.receives_s).tolist()

    def _send(self, state: ActorState, place: int) -> bool:
        now_s, message = state.now_s, state.actor.message[place]
        is_done = super()._send(state, place)
        earliest_arrival_s = self._sent_s[message] if message >= 0 else None
        if earliest_arrival_s is not None and not self._is_large[message]:
            earliest_arrival_s += self._ports.delay_s(message, now_s)
            self._incoming.arrive(message, earliest_arrival_s, self._sent_s)
        return is_done

    def _end_operation(self, state: ActorState, place: int, last_s: float) -> None:
        super()._end_operation(state, place, last_s)
        key = (state.actor.operation[place], state.actor.rank)
        contention_s = self._operations_s.get(key, 0.0)
        state.now_s += contention_s
        state.spent.collectives_s += contention_s


def contention(script: Script, costs: Costs) -> Contention:
    """What the messages and operations of a script took beyond the costs."""
    ports = Ports(script, costs)
    sent_s, measured_s, delay_s = _sends(script, ports)
    alone_s = np.array([costs.message_s(*route) for route in script.routes])[script.route]
    earliest_arrivals_s = sent_s + alone_s + delay_s
    before = before_each(script, ports, earliest_arrivals_s)
    busy_s = np.array([costs.busy_s(*route) for route in script.routes]).reshape(-1, 2)
    busy_s = busy_s[script.route]
    own_s = np.column_stack([alone_s, busy_s[:, 1]])
    transits_s = _in_turn(before, ports.occupancy_s, earliest_arrivals_s, None) - sent_s
    receive_contention_s = np.zeros(len(script.route))
    for number in range(len(script.actors)):
        for arrival in _arrivals(script, number):
            _observe(transits_s, receive_contention_s, arrival, sent_s, own_s)
    arrived_s = sent_s + transits_s
    sends_s = np.where(np.isnan(measured_s), 0.0, measured_s - busy_s[:, 0])
    shortest_s = np.array([costs.message_s(*route[:2], 0) for route in script.routes])
    bytes_s = alone_s - shortest_s[script.route]
    sizes = np.array([size_bytes for _, _, size_bytes in script.routes], np.int64)[script.route]
    return Contention(
        arrived_s - _in_turn(before, ports.occupancy_s, earliest_arrivals_s, arrived_s),
        sends_s,
        receive_contention_s,
        before,
        np.where((bytes_s > 0) & (sends_s >= STREAMED * bytes_s), sizes, 0),
        dict(_operations(script, costs)),
    )


def _sends(script: Script, ports: Ports) -> tuple[Floats, Floats, Floats]:
    """By message: when it was sent, how long its send took, and how much a busy port delayed it.

    The send took NaN if it was within another call.
    """
    sent_s, measured_s, delay_s = (np.full(len(script.route), np.nan) for _ in range(3))
    for actor in script.actors:
        begins_s, _ = _times_s(actor)
        for place in actor.places_of(SEND):
            message = actor.message[place]
            if message < 0:
                continue
            sent_s[message] = begins_s[place]
            delay_s[message] = ports.delay_s(message, float(begins_s[place]))
            if actor.form_at(place).blocks or actor.measured_s[place] > 0:
                measured_s[message] = actor.measured_s[place]
    return sent_s, measured_s, delay_s


def _in_turn(
    before: NDArray[np.int64],
    occupancy_s: list[float],
    earliest_arrivals_s: Floats,
    arrived_s: Floats | None,
) -> Floats:
    """When each message arrives, after the one before it; with that at its own time, if known."""
    arrivals_s = earliest_arrivals_s.copy()
    for message in np.argsort(earliest_arrivals_s, kind="stable").tolist():
        first = before[message]
        if first >= 0:
            first_s = float(arrivals_s[first] if arrived_s is None else arrived_s[first])
            arrivals_s[message] = max(arrivals_s[message], first_s + occupancy_s[message])
    return arrivals_s


def _observe(
    transits_s: Floats,
    receive_contention_s: Floats,
    arrival: _Arrival,
    sent_s: Floats,
    own_s: Floats,
) -> None:
    """Set the transits of the messages of a call: the last one is what it waited for.

    If it did not, what it takes beyond its receives is its own. `own_s` are the times of each
    message alone and of its receive.
    """
    begin_s, end_s, messages = arrival
    numbers = np.array(messages)
    most_s = np.maximum(end_s - sent_s[numbers], 0.0)
    due_s = sent_s[numbers] + transits_s[numbers]
    last = int(np.argmax(due_s))
    alone_s, receives_s = float(own_s[numbers[last], 0]), float(own_s[numbers, 1].sum())
    more_s = end_s - begin_s - receives_s
    is_due = float(due_s[last]) > begin_s + receives_s or more_s > WAITED * alone_s
    transits_s[numbers] = np.minimum(transits_s[numbers], most_s)
    if is_due and more_s > WAITED * receives_s:
        transits_s[numbers[last]] = most_s[last]
    else:
        receive_contention_s[numbers[last]] = more_s


def _arrivals(script: Script, number: int) -> Iterator[_Arrival]:
    """The calls of an actor that complete messages."""
    actor, awaited = script.actors[number], script.awaited[number]
    begins_s, ends_s = _times_s(actor)
    for place in actor.places_of(RECEIVE):
        if actor.message[place] >= 0:
            yield float(begins_s[place]), float(ends_s[place]), (actor.message[place],)
    for place in actor.places_of(WAIT):
        if awaited.get(place):
            yield float(begins_s[place]), float(ends_s[place]), awaited[place]


def _times_s(actor: Actor) -> tuple[Floats, Floats]:
    """When each call of an actor began and ended; of loops of polls, when the first one began."""
    if not actor.form:
        return np.zeros(0), np.zeros(0)
    ends_s = actor.rows["end_s"].to_numpy().astype(float)
    return ends_s - np.array(actor.measured_s), ends_s


@dataclass(frozen=True)
class _Call:
    """A rank's call of an operation, from its begin to its end."""

    begin_s: float
    end_s: float
    name: str
    root: int
    size_bytes: int


def _operations(script: Script, costs: Costs) -> Iterator[tuple[tuple[Operation, int], float]]:
    """By operation and rank: its end after the last arrival that counts, less its cost."""
    calls: dict[Operation, dict[int, _Call]] = {}
    for actor in script.actors:
        begins_s, ends_s = _times_s(actor)
        for place in actor.places_of(COLLECTIVE):
            name = actor.form_at(place).call
            if not is_non_blocking(name):
                call = _Call(float(begins_s[place]), float(ends_s[place]), name,
                             actor.partner[place], actor.size_bytes[place])  # fmt: skip
                calls.setdefault(actor.operation[place], {})[actor.rank] = call
    for key, by_rank in calls.items():
        gathering = script.gatherings[key]
        if set(gathering.members) != set(by_rank):
            continue
        latest_s = max(call.begin_s for call in by_rank.values())
        for rank, call in by_rank.items():
            last_s, name = latest_s, operation(call.name)
            cost_s = costs.collective_s(call.name, gathering.members, gathering.blocks_bytes)
            if name in FROM_ROOT and call.root in by_rank:
                last_s = max(call.begin_s, by_rank[call.root].begin_s)
            elif name in TO_ROOT and call.root in by_rank and rank != call.root:
                last_s = call.begin_s
                cost_s = costs.busy_s(rank, call.root, call.size_bytes)[0]
            yield (key, rank), call.end_s - last_s - cost_s
