"""Contention: what each message and operation of a trace took beyond its cost.

Costs are those of a message alone. In the program messages slow each other down, ranks lose their
core, and a library polls others: the replay of a slower network keeps what each message and
operation of the trace lost that way, so that a replay without a change is the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.program.costs import Costs, work_s
from nhalf.decide.program.ports import Ports, before_each
from nhalf.facts.program.operations import Places, is_non_blocking
from nhalf.facts.program.schedule import RECEIVE, SEND
from nhalf.facts.program.script import Script

WAITED = 0.1
"""A receive that takes longer than its own time by more than this share of it has waited, if its
message is due then, or it takes longer by that share of a message's time.
"""
STREAMED = 0.5
"""A blocking send that takes this share of what its bytes take ends when they have left."""
_Arrival = tuple[float, float, Places]
"""When a call began and ended, and the messages that it completes."""


@dataclass(frozen=True)
class Contention:
    """Seconds beyond the costs: by message on its way, in its send and its receive; by part in an
    operation, NaN if it is unknown.

    `before` is the message that came into the same rank before, `streams_bytes` the size of each
    message whose send ends when its bytes have left, else 0.
    """

    transits_s: Floats
    sends_s: Floats
    receives_s: Floats
    before: NDArray[np.int64]
    streams_bytes: NDArray[np.int64]
    operations_s: Floats


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
        _operations_s(script, costs),
    )


def _sends(script: Script, ports: Ports) -> tuple[Floats, Floats, Floats]:
    """By message: when it was sent, how long its send took, and how much a busy port delayed it.

    The send took NaN if it was within another call.
    """
    sent_s, measured_s, delay_s = (np.full(len(script.route), np.nan) for _ in range(3))
    for actor in script.actors:
        begins_s, _ = actor.times_s
        for place in actor.places_of(SEND).tolist():
            message = int(actor.message[place])
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
    begin_s, end_s, numbers = arrival
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
    actor = script.actors[number]
    begins_s, ends_s = actor.times_s
    places = actor.places_of(RECEIVE)
    places = places[actor.message[places] >= 0]
    waits, awaited = script.awaited_by(number)
    waits, begin = np.unique(waits, return_index=True)
    messages = [*actor.message[places].reshape(-1, 1), *np.split(awaited, begin[1:])]
    for place, own in zip([*places.tolist(), *waits.tolist()], messages, strict=False):
        yield float(begins_s[place]), float(ends_s[place]), own


def _operations_s(script: Script, costs: Costs) -> Floats:
    """By part: its end after the last arrival that counts, less its cost; NaN of operations that
    another call ends.
    """
    parts = script.parts
    if not len(parts.step):
        return np.zeros(0)
    begins_s, ends_s = (own_s[parts.step] for own_s in script.times_s)
    is_begun = np.array([is_non_blocking(form.call) for form in script.forms], bool)[parts.form]
    latest_s, root_s = (np.full(parts.operations, -np.inf) for _ in range(2))
    np.maximum.at(latest_s, parts.operation, begins_s)
    root_s[parts.operation[parts.is_root]] = begins_s[parts.is_root]
    last_s = np.choose(
        parts.role,
        [latest_s[parts.operation], root_s[parts.operation], np.full(len(begins_s), -np.inf)],
    )
    cost_s = np.array([work_s(costs, work) for work in parts.works])[parts.work]
    some_begun = np.bincount(parts.operation[is_begun], minlength=parts.operations) > 0
    more_s = ends_s - np.maximum(begins_s, last_s) - cost_s
    return np.where(some_begun[parts.operation], np.nan, more_s)
