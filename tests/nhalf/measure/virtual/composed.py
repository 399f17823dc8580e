"""Collective operations composed of a machine's messages, apart from the code that they check.

A rank is a generator of steps: a send to a rank, a receive from one, or a wait until the bytes of
its last send have left. What a message takes is T(n) of the machine's curves: o_s at the sender,
o_r at the receiver and the rest on the way. Ways out of a rank and into one carry one message at a
time, each for as long as its bytes take, but for the gap at least.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nhalf.machines.curve import loggp_of
from nhalf.machines.machine import FittedModel
from nhalf.machines.message import Messages

PS = 1e12
EAGER_BYTES = 16384
"""A longer send is over when its bytes have left."""

Step = tuple[Literal["send", "receive", "left"], int]
Steps = Iterator[Step]


@dataclass(frozen=True)
class Link:
    """What a message of one size takes between two ranks, in picoseconds."""

    send: float
    receive: float
    way: float
    busy: float


def link(messages: Messages, is_within: bool, size_bytes: int) -> Link:
    """A message within a node, or to the nearest one."""
    curve: FittedModel = messages.within_node if is_within else messages.between_nodes[0][1]
    time, shortest = (curve.time_s(size) * PS for size in (size_bytes, 0))
    parameters = loggp_of(messages.machine, curve)
    send = receive = shortest / 4
    gap = 0.0
    if parameters is not None:
        assert parameters.send_overhead_s is not None
        assert parameters.recv_overhead_s is not None
        send, receive = parameters.send_overhead_s * PS, parameters.recv_overhead_s * PS
        gap = (parameters.gap_s or 0.0) * PS
    return Link(send, receive, time - send - receive, max(gap, time - shortest))


@dataclass
class _Rank:
    steps: Steps
    now: float
    out_free: float = 0.0
    in_free: float = 0.0
    there: dict[int, deque[float]] = field(default_factory=dict)
    awaited: int | None = None


def ends(
    steps: Sequence[Steps], begins: Sequence[float], wires: Callable[[int, int], Link]
) -> list[float]:
    """When each rank is through its steps, having begun at these times; picoseconds."""
    ranks = [_Rank(own, begin) for own, begin in zip(steps, begins, strict=True)]
    number = itertools.count()
    # Events in the order of time: a rank goes on (source -1), or a message reaches it.
    events = [(begin, next(number), rank, -1, 0.0) for rank, begin in enumerate(begins)]
    heapq.heapify(events)
    while events:
        time, _, at, source, busy = heapq.heappop(events)
        rank = ranks[at]
        if source >= 0:
            rank.in_free = max(time, rank.in_free + busy)
            rank.there.setdefault(source, deque()).append(rank.in_free)
            if rank.awaited != source:
                continue
        _go_on(ranks, at, wires, events, number)
    assert all(rank.awaited is None for rank in ranks)
    return [rank.now for rank in ranks]


def _go_on(
    ranks: list[_Rank],
    at: int,
    wires: Callable[[int, int], Link],
    events: list[tuple[float, int, int, int, float]],
    number: Iterator[int],
) -> None:
    """Follow a rank to its next send, or to a receive of what is not there."""
    rank = ranks[at]
    while True:
        if rank.awaited is not None:
            waiting = rank.there.get(rank.awaited)
            if not waiting:
                return
            rank.now = max(rank.now, waiting.popleft()) + wires(rank.awaited, at).receive
            rank.awaited = None
        kind, other = next(rank.steps, ("end", -1))
        if kind == "end":
            return
        if kind == "receive":
            rank.awaited = other
        elif kind == "left":
            rank.now = max(rank.now, rank.out_free)
        else:
            wire = wires(at, other)
            rank.now += wire.send
            start = max(rank.now, rank.out_free)
            rank.out_free = start + wire.busy
            heapq.heappush(events, (start + wire.way, next(number), other, at, wire.busy))


def binomial(rank: int, ranks: int, waits: bool) -> Steps:
    """Broadcast from rank 0: the farthest rank, at a power of two, gets it first.

    `waits`, of every algorithm: a send is over when its bytes have left.
    """
    mask = 1
    while mask < ranks and not rank & mask:
        mask *= 2
    if rank:
        yield "receive", rank - mask
    mask //= 2
    while mask:
        if rank + mask < ranks:
            yield "send", rank + mask
            if waits:
                yield "left", -1
        mask //= 2


def near_first(rank: int, ranks: int, waits: bool) -> Steps:
    """Broadcast from rank 0 by Open MPI: nearest ranks first, all sends before a wait."""
    mask = 1 << rank.bit_length()
    if rank:
        yield "receive", rank - mask // 2
    while rank + mask < ranks:
        yield "send", rank + mask
        mask *= 2
    if waits:
        yield "left", -1


def recursive_doubling(rank: int, ranks: int, waits: bool) -> Steps:
    """Allreduce: partners at distances 1, 2, 4 … exchange what they have.

    Beyond a power of two the first even ranks leave their part to their neighbours.
    """
    power = 1 << (ranks.bit_length() - 1)
    left_over = ranks - power
    is_left_over = rank < 2 * left_over
    if is_left_over and rank % 2 == 0:
        yield "send", rank + 1
        if waits:
            yield "left", -1
        yield "receive", rank + 1
        return
    if is_left_over:
        yield "receive", rank - 1
    own = rank // 2 if is_left_over else rank - left_over
    mask = 1
    while mask < power:
        partner = own ^ mask
        number = 2 * partner + 1 if partner < left_over else partner + left_over
        yield "send", number
        yield "receive", number
        if waits:
            yield "left", -1
        mask *= 2
    if is_left_over:
        yield "send", rank - 1
        if waits:
            yield "left", -1


def dissemination(rank: int, ranks: int, _waits: bool) -> Steps:
    """Barrier: in round i each tells the one 2^i behind that it is there."""
    distance = 1
    while distance < ranks:
        yield "send", (rank + distance) % ranks
        yield "receive", (rank - distance) % ranks
        distance *= 2
