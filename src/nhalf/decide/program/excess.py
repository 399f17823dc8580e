# SPDX-License-Identifier: Apache-2.0
"""What each message and operation of a trace took beyond its cost, and a replay with it.

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
from nhalf.decide.program.replay import Replay
from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.schedule import COLLECTIVE, RECEIVE, SEND, WAIT, Actor
from nhalf.facts.program.script import Numbers, Operation, Script

WAITED = 1.001
"""A receive that takes longer than its own time by more than this ratio has waited."""
STREAMED = 0.5
"""A blocking send that takes this share of what its bytes take ends when they have left."""
_Arrival = tuple[float, float, Numbers]
"""When a call began and ended, and the messages that it completes."""


@dataclass(frozen=True)
class Excess:
    """Seconds beyond the costs: by message on its way and in its send, by operation and rank.

    `streams_bytes` is the size of each message whose send ends when its bytes have left, else 0.
    """

    ways_s: Floats
    sends_s: Floats
    streams_bytes: NDArray[np.int64]
    operations_s: Mapping[tuple[Operation, int], float]


class Ports:
    """The ways out of ranks, which each message keeps for a time."""

    def __init__(self, script: Script, costs: Costs) -> None:
        self._source = [script.routes[route][0] for route in script.route]
        busy_s = np.array([costs.busy_s(*route)[0] for route in script.routes])
        kept_s = np.array([costs.port_s(*route) for route in script.routes])
        self._busy_s: list[float] = busy_s[script.route].tolist()
        self._kept_s: list[float] = kept_s[script.route].tolist()
        self._free_s: dict[int, float] = {}

    def later_s(self, message: int, sent_s: float) -> float:
        """Send a message; how much later than it could it begins."""
        kept_s = self._kept_s[message]
        if kept_s == 0:
            return 0.0
        source, ready_s = self._source[message], sent_s + self._busy_s[message]
        begins_s = max(ready_s, self._free_s.get(source, 0.0))
        self._free_s[source] = begins_s + kept_s
        return begins_s - ready_s


class ExcessReplay(Replay):
    """A replay in which each message and operation takes its excess, too. Messages leave a rank one
    after the other; a byte of a send that streams keeps its sender for `byte_s` more.
    """

    def __init__(self, script: Script, costs: Costs, excess: Excess, byte_s: float = 0.0) -> None:
        super().__init__(script, costs)
        self._operations_s = excess.operations_s
        self._ports = Ports(script, costs)
        self._whole_s = (np.array(self._whole_s) + excess.ways_s).tolist()
        streams_s = excess.streams_bytes * byte_s
        self._sends_s = (np.array(self._sends_s) + excess.sends_s + streams_s).tolist()

    def _send(self, state: ActorState, place: int) -> bool:
        now_s, message = state.now_s, state.actor.message[place]
        is_done = super()._send(state, place)
        arrived_s = self._sent_s[message] if message >= 0 else None
        if arrived_s is not None and not self._is_large[message]:
            self._sent_s[message] = arrived_s + self._ports.later_s(message, now_s)
        return is_done

    def _end_operation(self, state: ActorState, place: int, last_s: float) -> None:
        super()._end_operation(state, place, last_s)
        key = (state.actor.operation[place], state.actor.rank)
        excess_s = self._operations_s.get(key, 0.0)
        state.now_s += excess_s
        state.spent.collectives_s += excess_s


def excess(script: Script, costs: Costs) -> Excess:
    """The excess of a script over the costs."""
    number = len(script.route)
    sizes = np.array([size_bytes for _, _, size_bytes in script.routes], np.int64)[script.route]
    alone_s = np.array([costs.message_s(*route) for route in script.routes])[script.route]
    whole_s = alone_s.copy()
    busy_s = np.array([costs.busy_s(*route) for route in script.routes]).reshape(-1, 2)
    busy_s = busy_s[script.route]
    sent_s, measured_s = np.full(number, np.nan), np.full(number, np.nan)
    ports = Ports(script, costs)
    for actor in script.actors:
        begins_s, _ = _times_s(actor)
        for place in actor.places_of(SEND):
            message = actor.message[place]
            if message >= 0:
                sent_s[message] = begins_s[place]
                whole_s[message] += ports.later_s(message, float(begins_s[place]))
                # A send within another call, as of MPI_Sendrecv, has no time of its own.
                if actor.form_at(place).blocks or actor.measured_s[place] > 0:
                    measured_s[message] = actor.measured_s[place]
    ways_s = whole_s.copy()
    for arrival in (each for actor in script.actors for each in _arrivals(script, actor)):
        _observe(ways_s, arrival, sent_s, busy_s[:, 1])
    sends_s = np.where(np.isnan(measured_s), 0.0, measured_s - busy_s[:, 0])
    shortest_s = np.array([costs.message_s(*route[:2], 0) for route in script.routes])
    bytes_s = alone_s - shortest_s[script.route]
    is_streamed = (bytes_s > 0) & (sends_s >= STREAMED * bytes_s)
    return Excess(
        ways_s - whole_s,
        sends_s,
        np.where(is_streamed, sizes, 0),
        dict(_operations(script, costs)),
    )


def _observe(ways_s: Floats, arrival: _Arrival, sent_s: Floats, receives_s: Floats) -> None:
    """Set the ways of the messages of a call: the last one is what it waited for."""
    begin_s, end_s, messages = arrival
    numbers = np.array(messages)
    most_s = np.maximum(end_s - sent_s[numbers], 0.0)
    last = int(np.argmax(sent_s[numbers] + ways_s[numbers]))
    ways_s[numbers] = np.minimum(ways_s[numbers], most_s)
    if end_s - begin_s > WAITED * float(receives_s[numbers].sum()):
        ways_s[numbers[last]] = most_s[last]


def _arrivals(script: Script, actor: Actor) -> Iterator[_Arrival]:
    begins_s, ends_s = _times_s(actor)
    for place in actor.places_of(RECEIVE):
        if actor.message[place] >= 0:
            yield float(begins_s[place]), float(ends_s[place]), (actor.message[place],)
    awaited = script.awaited[script.actors.index(actor)]
    for place in actor.places_of(WAIT):
        if awaited.get(place):
            yield float(begins_s[place]), float(ends_s[place]), awaited[place]


def _times_s(actor: Actor) -> tuple[Floats, Floats]:
    """When each call of an actor began and ended; of loops of polls, when the first one began."""
    if not actor.form:
        return np.zeros(0), np.zeros(0)
    ends_s = actor.rows["end_s"].to_numpy().astype(float)
    begins_s = ends_s - np.array(actor.measured_s)
    is_begun = actor.rows["start_s"].to_numpy() < begins_s
    only_begins = is_begun & (np.array(actor.measured_s) == 0)
    return np.where(only_begins, actor.rows["start_s"].to_numpy(), begins_s), ends_s


def _operations(
    script: Script, costs: Costs
) -> Iterator[tuple[tuple[Operation, int], float]]:
    """By operation and rank: its end after the last arrival that counts, less its cost."""
    times_s: dict[Operation, dict[int, tuple[float, float, str, int, int]]] = {}
    for actor in script.actors:
        begins_s, ends_s = _times_s(actor)
        for place in actor.places_of(COLLECTIVE):
            call = actor.form_at(place).call
            if not is_non_blocking(call):
                times_s.setdefault(actor.operation[place], {})[actor.rank] = (
                    float(begins_s[place]),
                    float(ends_s[place]),
                    call,
                    actor.partner[place],
                    actor.size_bytes[place],
                )
    for key, by_rank in times_s.items():
        members, blocks_bytes = (
            script.gatherings[key].members,
            script.gatherings[key].blocks_bytes,
        )
        if set(members) != set(by_rank):
            continue
        arrived_s = {rank: begin_s for rank, (begin_s, *_) in by_rank.items()}
        for rank, (begin_s, end_s, call, root, size_bytes) in by_rank.items():
            name = operation(call)
            last_s = max(arrived_s.values())
            cost_s = costs.collective_s(call, members, blocks_bytes)
            if name in FROM_ROOT and root in arrived_s:
                last_s = max(begin_s, arrived_s[root])
            elif name in TO_ROOT and root in arrived_s and rank != root:
                last_s, cost_s = begin_s, costs.busy_s(rank, root, size_bytes)[0]
            yield (key, rank), end_s - last_s - cost_s
