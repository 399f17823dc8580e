"""The time of concurrent messages: that of the slowest resource that they share.

If all messages start at once, the last one ends no earlier than the most loaded resource has
moved its load (max-rate: W. Gropp, L. Olson, P. Samfass, EuroMPI 2016). A rank is loaded by the
time of each of its messages, a memory, adapter, bus or cable by their bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.machines.draws import Draws
from nhalf.machines.machine import FittedModel
from nhalf.machines.message import Message, Messages
from nhalf.machines.shared import Shared, middle
from nhalf.machines.topology import Crossbar, Direct, FatTree

Pairs = Sequence[tuple[int, int]]
"""Messages: the ranks of sender and receiver."""
OVERLAP = (1.0, 3.2)
"""What the start-ups of two exchanges take, over that of a message: from all at once to one after
the other, each with 9.84 us of a barrier of two for 6.2 us of a message (Qian 2004, Myrinet)."""
HANDSHAKE, THRESHOLD_BYTES = (1.0, 3.0), (1024.0, 262144.0)
"""How many trips a long message starts with, the last of three being the message itself, and from
which size on, where a curve is one straight line up to all of these sizes: a study gave its latency
and its rate only."""
COPIED = (1.02, 1.92)
"""How much longer a byte takes in such a message before that size, where it is copied on its way,
than in the longest: from 1.02 (sp2-ip) to 1.92 (spp1000-pvm) on machines whose curves were
published in ranges of sizes (Abandah 1995)."""
QUEUED = (0.05, 0.46)
"""How long a message between nodes keeps its node's way to others busy, over its latency, where no
study says it: from next to nothing to the 2.29 of 5 us of a published table (Qian 2004, Sun Fire;
on Myrinet 2.3 of 6.2 us). Short messages of a full node wait for each other."""
COLD = (2 / 3, 1.0)
"""What buffers that no cache holds leave of a rate within a node whose fall was not published: a
third less on the Altix, a quarter on the Opteron cluster at 4 MB (Adamidis et al. 2005)."""
BLOCKING = (2 - math.sqrt(2), 1.0)
"""What a link gets through to which messages come from several sides: less where they wait behind
others in the switch (M. Karol, M. Hluchyj, S. Morgan, "Input versus output queueing on a
space-division packet switch", IEEE Transactions on Communications 35, 1987)."""


@dataclass(frozen=True)
class _Load:
    """Load of the most loaded resource of a kind per byte of a message, over its rate."""

    seconds_per_byte: Floats


@dataclass(frozen=True)
class Together:
    """What messages at once load, whatever their size.

    `used` are the curves between their ranks; `rows`, of each rank, how many messages it sends and
    receives on which; `loads_s_per_B` the seconds per byte of all shared resources, in every draw.
    """

    used: frozenset[int]
    rows: frozenset[tuple[tuple[tuple[int, int], ...], ...]]
    loads_s_per_B: tuple[Floats, ...]


class ConcurrentMessages:
    """Messages of a machine's ranks, the nodes filled one after the other.

    Times have the shape (draws, sizes), of sizes of the same shape. `cold` buffers are in no cache;
    with `queues` messages wait for others of their node on its way to the network; `spread` over
    all cables of a leaf switch they take no fixed routes.
    """

    def __init__(
        self,
        messages: Messages,
        draws: Draws,
        per_node: int,
        *,
        cold: bool = False,
        queues: bool = False,
        spread: bool = False,
    ) -> None:
        machine = messages.machine
        self._is_spread = spread
        self.machine, self.per_node, self.count = machine, per_node, draws.count
        within, between = messages.within_node, messages.between_nodes
        # Draws are relative to the geometric mean, the value in the file that changes apply to.
        ranges = {
            unpublished.of: draws.of((unpublished.low, unpublished.high))
            / middle((unpublished.low, unpublished.high))
            for unpublished in machine.ranges
        }
        unity = np.ones(draws.count)
        later = ranges.get("latency between nodes", unity)
        slower = 1 / ranges.get("rate between nodes", unity)
        self._curves = [(0, _Curve(within, unity, unity))]
        self._curves += [(apart, _Curve(model, later, slower)) for apart, model in between]
        network = machine.network
        self.link_Bps: Floats | None = None
        if network and network.bandwidth_Bps:
            self.link_Bps = network.bandwidth_Bps * ranges.get("bandwidth of a link", unity)
        self._overlap, self._trips = draws.of(OVERLAP), draws.of(HANDSHAKE)
        self._threshold_bytes, self._copied = draws.of(THRESHOLD_BYTES), draws.of(COPIED)
        self.shared = [
            (unpublished, _amounts(unpublished, draws)) for unpublished in machine.shared
        ]
        self._none = np.zeros(draws.count)
        self._queued = draws.of(QUEUED) if queues else self._none
        self.blocking = draws.of(BLOCKING)
        self._cold = draws.of(COLD) if cold else unity
        peak_Bps, last_Bps = _peak_and_last_Bps(within)
        if cold and last_Bps < peak_Bps:
            self._cold = unity * last_Bps / peak_Bps
        self._least_s = 1 / (peak_Bps * self._cold) if cold else self._none

    def time_s(self, pairs: Pairs, size_bytes: Floats) -> Floats:
        """The time until the last of all messages, each of `size_bytes` (draws, sizes), arrives."""
        together = self.together(pairs)
        start_s = np.max([self._curves[i][1].start_s for i in together.used], axis=0)
        bytes_s = {i: self._bytes_s(i, size_bytes) for i in together.used}
        if len(pairs) == 1:
            alone_s: Floats = start_s[:, None] + bytes_s[next(iter(together.used))]
            return alone_s
        slowest = self._slowest_s(together, bytes_s, size_bytes)
        trips = self._trips_of(together.used, size_bytes)
        waiting_s = self._waiting_s(pairs, start_s)[:, None]
        total_s: Floats = (self._overlap * start_s)[:, None] * trips + waiting_s + slowest
        return total_s

    def together(self, pairs: Pairs) -> Together:
        """What messages at once load."""
        counts: dict[int, tuple[Counter[int], Counter[int]]] = {}
        for pair in pairs:
            for end, rank in enumerate(pair):
                counts.setdefault(rank, (Counter(), Counter()))[end][self.curve_index(*pair)] += 1
        ways = (curve_counts for ends in counts.values() for curve_counts in ends)
        rows = {
            tuple(tuple(sorted(curve_counts.items())) for curve_counts in ends)
            for ends in counts.values()
        }
        used = {curve_index for curve_counts in ways for curve_index in curve_counts}
        loads_s_per_B = tuple(load.seconds_per_byte for load in self._loads(pairs))
        return Together(frozenset(used), frozenset(rows), loads_s_per_B)

    def least_s(self, together: Together, size_bytes: Floats) -> Floats:
        """The time in which the most loaded resource moves its bytes; no message has a start."""
        bytes_s = {i: self._curves[i][1].bytes_s(size_bytes) for i in together.used}
        return self._slowest_s(together, bytes_s, size_bytes)

    def _slowest_s(
        self, together: Together, bytes_s: Mapping[int, Floats], size_bytes: Floats
    ) -> Floats:
        """The time of the most loaded resource, ranks included."""
        slowest: Floats = np.max(list(bytes_s.values()), axis=0)
        for seconds_per_byte in together.loads_s_per_B:
            slowest = np.maximum(slowest, seconds_per_byte[:, None] * size_bytes)
        none = np.zeros_like(slowest)
        for row in together.rows:
            out_s, in_s = (
                sum((n * bytes_s[curve_index] for curve_index, n in curve_counts), none)
                for curve_counts in row
            )
            both_s = (out_s + in_s) / self.ratio()[:, None]
            slowest = np.maximum.reduce([slowest, out_s, in_s, both_s])
        return slowest

    def alone_s(self, curve_index: int, size_bytes: float) -> Floats:
        """The time per message, (draws,), of a rank that sends one after the other on a curve."""
        size = np.full((self.count, 1), float(size_bytes))
        start_s = self._curves[curve_index][1].start_s[:, None]
        time_s: Floats = start_s * self._trips_of({curve_index}, size) + self._bytes_s(
            curve_index, size
        )
        return time_s[:, 0]

    def _bytes_s(self, curve_index: int, size_bytes: Floats) -> Floats:
        """The size-dependent time of a single message, longer while its bytes are copied."""
        curve = self._curves[curve_index][1]
        is_copied = curve.is_straight & (size_bytes < self._threshold_bytes[:, None])
        bytes_s: Floats = curve.bytes_s(size_bytes) * np.where(
            is_copied, self._copied[:, None], 1.0
        )
        return np.maximum(bytes_s, self._least_s[:, None] * size_bytes)

    def _trips_of(self, curve_indices: Iterable[int], size_bytes: Floats) -> Floats:
        """The number of latencies with which a message starts."""
        straight = all(self._curves[curve_index][1].is_straight for curve_index in curve_indices)
        is_long = size_bytes >= self._threshold_bytes[:, None]
        return np.where(is_long & straight, self._trips[:, None], 1.0)

    def node(self, rank: int) -> int:
        """The node of a rank."""
        return rank // self.per_node

    def curve_index(self, a: int, b: int) -> int:
        """The index of the curve between two ranks, by the distance of their nodes."""
        apart = abs(self.node(a) - self.node(b))
        near = [i for i, (least, _) in enumerate(self._curves) if least <= apart]
        return near[-1] if apart else 0

    def ratio(self) -> Floats:
        """A rank's rate in both directions at once over its ping-pong's; 2 if unknown."""
        for resource, amounts in self.shared:
            if resource.what == "rank":
                return amounts["both_ways_ratio"]
        return self._none + 2

    def _waiting_s(self, pairs: Pairs, start_s: Floats) -> Floats:
        """The time that a message waits for others on the same adapter."""
        between_nodes = [pair for pair in pairs if self.crosses_nodes(pair)]
        ends = Counter(self.node(rank) for pair in between_nodes for rank in pair)
        messages_before = max(ends.values(), default=1) - 1
        for _, amounts in self.shared:
            if "per_message_s" in amounts:
                return messages_before * amounts["per_message_s"]
        waiting_s: Floats = messages_before * self._queued * start_s
        return waiting_s

    def crosses_nodes(self, pair: tuple[int, int]) -> bool:
        """Whether a message passes between nodes."""
        return self.node(pair[0]) != self.node(pair[1])

    def _loads(self, pairs: Pairs) -> Iterator[_Load]:
        """The loads of all shared resources."""
        between_nodes = [pair for pair in pairs if self.crosses_nodes(pair)]
        for resource, amounts in self.shared:
            if resource.what == "medium":
                yield _Load(len(between_nodes) / amounts["both_ways_Bps"])
                continue
            passing = pairs if resource.what == "memory" else between_nodes
            slower = 1 / self._cold if resource.what == "memory" else 1.0
            out, into = (
                Counter(self.owner(resource, pair[end]) for pair in passing) for end in (0, 1)
            )
            if "one_way_Bps" in amounts:
                yield _Load(slower * _highest_count(out, into) / amounts["one_way_Bps"])
            if "both_ways_Bps" in amounts:
                yield _Load(slower * _highest_count(out + into) / amounts["both_ways_Bps"])
        yield from self._network_loads(between_nodes)
        if self.machine.node and self.machine.node.memory_Bps:
            stays = Counter(self.node(pair[0]) for pair in pairs if not self.crosses_nodes(pair))
            yield _Load(self._none + _highest_count(stays) / self.machine.node.memory_Bps)

    def owner(self, resource: Shared, rank: int) -> tuple[int, int]:
        """The resource of a kind that a rank uses: its node, and the number within the node."""
        node = self.node(rank)
        return node, (rank - node * self.per_node) // (resource.ranks or self.per_node)

    def _network_loads(self, between_nodes: Pairs) -> Iterator[_Load]:
        """The loads of adapters, links and, if routes are known, of cables between switches."""
        network = self.machine.network
        if network is None or not between_nodes:
            return
        nodes = [(self.node(a), self.node(b)) for a, b in between_nodes]
        out, into = (Counter(pair[end] for pair in nodes) for end in (0, 1))
        if network.adapter_Bps:
            yield _Load(self._none + _highest_count(out, into) / network.adapter_Bps)
        topology = network.topology
        if isinstance(topology, Direct):
            yield self._link(Counter(nodes))
        elif isinstance(topology, FatTree | Crossbar):
            yield self._link(out, into, *([] if network.duplex else [out + into]))
        if isinstance(topology, FatTree) and len(topology.down) == 2:
            passed = Counter(passed for pair in nodes for passed in cables(topology, pair))
            yield self._link(spread_over(topology, passed) if self._is_spread else passed)

    def _link(self, *counted: Counter[Any]) -> _Load:
        """The load of the most used link."""
        most = _highest_count(*counted)
        if self.link_Bps is None:
            return _Load(self._none)
        return _Load(most / (self.link_Bps * (self.blocking if most > 1 else 1.0)))


def rate_falls(within: FittedModel) -> bool:
    """Whether the curve shows that the largest messages, which no cache holds, are slower."""
    peak_Bps, last_Bps = _peak_and_last_Bps(within)
    return last_Bps < peak_Bps


def _peak_and_last_Bps(within: FittedModel) -> tuple[float, float]:
    """The highest rate of a message at an end of a segment, and that of the largest message."""
    sizes = [
        size
        for segment in within.segments
        for size in (segment.from_bytes, segment.to_bytes)
        if size
    ]
    rates = [size / within.time_s(size) for size in sizes if within.time_s(size) > 0]
    if not rates:
        raise InputError(
            f"by its model {within.pattern} of {within.mpi or within.transport} takes no time",
            "fit the machine again, to a run with more sizes",
        )
    return max(rates), rates[-1]


Cable = tuple[str, int, int]
"""Direction ("up" or "down"), leaf switch, and number of its cable."""


def cables(topology: FatTree, nodes: tuple[int, int]) -> tuple[Cable, ...]:
    """The cables of a tree of two levels that lead from a node to another."""
    a, b = nodes
    leaves = a // topology.down[0], b // topology.down[0]
    if leaves[0] == leaves[1]:
        return ()
    cable = topology.cable(a, b)
    return ("up", leaves[0], cable), ("down", leaves[1], cable)


def spread_over(topology: FatTree, passed: Counter[Cable]) -> Counter[Cable]:
    """Messages on each cable if those of a leaf switch take all of its cables alike."""
    by_leaf: Counter[Cable] = Counter()
    for (direction, leaf, _), number in passed.items():
        by_leaf[direction, leaf, 0] += number
    return Counter({leaf: -(-number // topology.cables_up) for leaf, number in by_leaf.items()})


def _highest_count(*counted: Counter[Any]) -> int:
    return max((number for counter in counted for number in counter.values()), default=0)


def _amounts(resource: Shared, draws: Draws) -> dict[str, Floats]:
    """Draws of all numbers of a resource that are present."""
    amounts = {
        "one_way_Bps": resource.one_way_Bps,
        "both_ways_Bps": resource.both_ways_Bps,
        "both_ways_ratio": resource.both_ways_ratio,
        "per_message_s": resource.per_message_s,
    }
    return {name: draws.of(amount) for name, amount in amounts.items() if amount is not None}


class _Curve:
    """A single message: its start-up and size-dependent time in every draw."""

    def __init__(self, model: FittedModel, later: Floats, slower: Floats) -> None:
        self._message = Message(model)
        self._slower = slower
        first = model.segments[0]
        self.is_straight = len(model.segments) == 1 or first.to_bytes >= THRESHOLD_BYTES[1]
        self.start_s = later * float(self._message.time_s(np.array(0.0)))

    def bytes_s(self, size_bytes: Floats) -> Floats:
        """The time beyond the start-up, of sizes (draws, sizes)."""
        start_s = float(self._message.time_s(np.array(0.0)))
        bytes_s: Floats = (self._message.time_s(size_bytes) - start_s) * self._slower[:, None]
        return np.maximum(bytes_s, 0.0)
