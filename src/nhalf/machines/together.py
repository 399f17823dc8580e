"""The time of concurrent messages: that of the slowest resource that they share.

If all messages start at once, the last one ends no earlier than the most loaded resource has
moved its load (max-rate: W. Gropp, L. Olson, P. Samfass, EuroMPI 2016). A rank is loaded by the
time of each of its messages, a memory, adapter, bus or cable by their bytes: which of them a
message passes, and what they leave to each that flows on and on, the network says (network.py).

In an all-to-all every rank has a block for every other one, so all of these are loaded at once.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.machines.draws import Draws
from nhalf.machines.machine import FittedModel
from nhalf.machines.message import Message, Messages, peak_and_last_Bps
from nhalf.machines.network import Pairs, SharedCapacities
from nhalf.machines.shared import LONG_BYTES, LONG_WITHIN, Shared, middle
from nhalf.machines.wires import wiring

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
class Together:
    """What messages at once load, whatever their size.

    `used` are the curves between their ranks; `rows` (ways, 2, used) say, of ranks that differ, how
    many messages one sends and receives on each; `load_s_per_B` (draws,) is what a byte of every
    message takes on the most loaded of all that they share.
    """

    used: list[int]
    rows: NDArray[np.int_]
    load_s_per_B: Floats


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
        self.machine, self._per_node, self.count = machine, per_node, draws.count
        within, between = messages.within_node, messages.between_nodes
        # Draws are relative to the geometric mean, the value in the file that changes apply to.
        ranges: dict[str, Floats] = {
            unpublished.of: draws.of((unpublished.low, unpublished.high))
            / middle((unpublished.low, unpublished.high))
            for unpublished in machine.ranges
        }
        unity = np.ones(draws.count)
        later = ranges.get("latency between nodes", unity)
        slower = 1 / ranges.get("rate between nodes", unity)
        self._apart = [0, *(apart for apart, _ in between)]
        falling = ranges.get(LONG_WITHIN)
        self._curves = [
            _Curve(within, unity, unity)
            if falling is None
            else _Curve(within, unity, 1 / falling, LONG_BYTES)
        ]
        self._curves += [_Curve(model, later, slower) for _, model in between]
        network = machine.network
        link_Bps = (network and network.bandwidth_Bps) or math.inf
        self._link_Bps = link_Bps * ranges.get("bandwidth of a link", unity)
        self._overlap, self._trips = draws.of(OVERLAP), draws.of(HANDSHAKE)
        self._threshold_bytes, self._copied = draws.of(THRESHOLD_BYTES), draws.of(COPIED)
        self._shared = [(resource, _amounts(resource, draws)) for resource in machine.shared]
        self._none = np.zeros(draws.count)
        self._queued = draws.of(QUEUED) if queues else self._none
        self.blocked_share = draws.of(BLOCKING)
        self._cold = draws.of(COLD) if cold else unity
        peak_Bps, last_Bps = peak_and_last_Bps(within)
        # A fall of which only a range is known tells nothing of what a cache holds.
        if cold and last_Bps < peak_Bps and falling is None:
            self._cold = unity * last_Bps / peak_Bps
        self._least_s = 1 / (peak_Bps * self._cold) if cold else self._none

    def time_s(self, pairs: Pairs, size_bytes: Floats) -> Floats:
        """The time until the last of all messages, each of `size_bytes` (draws, sizes), arrives."""
        together = self.together(pairs)
        start_s = np.max([self._curves[i].start_s for i in together.used], axis=0)
        bytes_s = np.stack([self._bytes_s(i, size_bytes) for i in together.used])
        if len(pairs) == 1:
            alone_s: Floats = start_s[:, None] + bytes_s[0]
            return alone_s
        trips = self._trips_of(together.used, size_bytes)
        total_s: Floats = (self._overlap * start_s)[:, None] * trips
        total_s += self._waiting_s(pairs, start_s)[:, None]
        return total_s + self._slowest_s(together, bytes_s, size_bytes)

    def together(self, pairs: Pairs) -> Together:
        """What messages at once load."""
        ranks, curves = np.array(pairs), len(self._curves)
        places = ranks * curves + self._curve_indices(pairs)[:, None]
        most = curves * (1 + int(ranks.max()))
        one_way = (np.bincount(places[:, end], minlength=most) for end in (0, 1))
        counts = np.stack([way.reshape(-1, curves) for way in one_way], axis=1)
        used = np.flatnonzero(counts.any(axis=(0, 1))).tolist()
        load_s_per_B = self._shared_by(pairs).load_s_per_B(pairs, is_spread=self._is_spread)
        return Together(used, np.unique(counts[..., used], axis=0), load_s_per_B)

    def least_s(self, together: Together, size_bytes: Floats) -> Floats:
        """The time in which the most loaded resource moves its bytes; no message has a start."""
        bytes_s = np.stack([self._curves[i].bytes_s(size_bytes) for i in together.used])
        return self._slowest_s(together, bytes_s, size_bytes)

    def _slowest_s(self, together: Together, bytes_s: Floats, size_bytes: Floats) -> Floats:
        """The time of the most loaded resource, ranks included; `bytes_s` are by used curves."""
        shared_s = together.load_s_per_B[:, None] * size_bytes
        slowest: Floats = np.maximum(bytes_s.max(axis=0), shared_s)
        for row in together.rows:
            out_s, in_s = np.tensordot(row, bytes_s, axes=1)
            both_s = (out_s + in_s) / self._both_ways[:, None]
            slowest = np.maximum.reduce([slowest, out_s, in_s, both_s])
        return slowest

    def rates_Bps(self, pairs: Pairs, size_bytes: float) -> Floats:
        """The rate of each pair, (draws, pairs), if its sender sends message after message.

        No rank waits for another: one whose messages meet no bottleneck continues at its own rate.
        """
        size = np.full((self.count, 1), size_bytes)
        alone_s = [
            curve.start_s[:, None] * self._trips_of([index], size) + self._bytes_s(index, size)
            for index, curve in enumerate(self._curves)
        ]
        alone_Bps = (size_bytes / np.hstack(alone_s))[:, self._curve_indices(pairs)]
        return self._shared_by(pairs, size_bytes).rates_Bps(pairs, alone_Bps, self._both_ways)

    def crosses_nodes(self, pairs: Pairs) -> NDArray[np.bool_]:
        """Whether each message passes between nodes, (pairs,)."""
        return self._curve_indices(pairs) > 0

    def _bytes_s(self, curve_index: int, size_bytes: Floats) -> Floats:
        """The size-dependent time of a single message, longer while its bytes are copied."""
        curve = self._curves[curve_index]
        is_copied = curve.is_straight & (size_bytes < self._threshold_bytes[:, None])
        bytes_s = curve.bytes_s(size_bytes) * np.where(is_copied, self._copied[:, None], 1.0)
        return np.maximum(bytes_s, self._least_s[:, None] * size_bytes)

    def _trips_of(self, curve_indices: Iterable[int], size_bytes: Floats) -> Floats:
        """The number of latencies with which a message starts."""
        straight = all(self._curves[curve_index].is_straight for curve_index in curve_indices)
        is_long = size_bytes >= self._threshold_bytes[:, None]
        return np.where(is_long & straight, self._trips[:, None], 1.0)

    def _curve_indices(self, pairs: Pairs) -> NDArray[np.intp]:
        """The curve of each message, by the distance of the nodes of its ranks."""
        apart = np.abs(np.diff(np.array(pairs) // self._per_node, axis=1))[:, 0]
        return np.searchsorted(self._apart, apart, side="right") - 1

    @cached_property
    def _both_ways(self) -> Floats:
        """A rank's rate in both directions at once over its ping-pong's; 2 if unknown."""
        ratios = [amounts.get("both_ways_ratio") for _, amounts in self._shared]
        return next((ratio for ratio in ratios if ratio is not None), self._none + 2)

    def _waiting_s(self, pairs: Pairs, start_s: Floats) -> Floats:
        """The time that a message waits for others on the same adapter."""
        ends = (np.array(pairs) // self._per_node)[self.crosses_nodes(pairs)]
        before = max(int(np.bincount(ends.ravel()).max(initial=0)) - 1, 0)
        waits = [amounts.get("per_message_s") for _, amounts in self._shared]
        return before * next((wait for wait in waits if wait is not None), self._queued * start_s)

    def _shared_by(self, pairs: Pairs, size_bytes: float | None = None) -> SharedCapacities:
        """What the ranks of pairs share: all at once, or message after message of a size."""
        network, node = self.machine.network, self.machine.node
        unlimited = np.full(self.count, np.inf)
        medium, memory = unlimited, unlimited
        lines, shares = ["medium 1", "memory 1"], []
        if network:
            lines += [f"link 1 {int(network.duplex)}", f"topology {wiring(network.topology)}"]
        if network and network.adapter_Bps:
            shares.append((0, True, self._none + network.adapter_Bps, unlimited))
        if node and node.memory_Bps:
            memory = self._none + node.memory_Bps
        for resource, amounts in self._shared:
            ranks, is_away = resource.ranks or 0, resource.what != "memory"
            one_way = amounts.get("one_way_Bps", unlimited)
            both_ways = amounts.get("both_ways_Bps", unlimited)
            if resource.what == "medium":
                medium = np.minimum(medium, both_ways)
            elif resource.what != "rank":
                cold = 1.0 if is_away or size_bytes else self._cold
                shares.append((ranks, is_away, cold * one_way, cold * both_ways))
            if size_bytes and "per_message_s" in amounts:
                shares.append((ranks, True, unlimited, size_bytes / amounts["per_message_s"]))
        lines += [f"share {ranks} {int(is_away)} 1 1" for ranks, is_away, *_ in shares]
        rates = [self._link_Bps, medium, memory, *(rate for share in shares for rate in share[2:])]
        nodes = np.arange(1 + np.max(pairs)) // self._per_node
        return SharedCapacities(nodes, lines, np.stack(rates, axis=1), self.blocked_share)


def _amounts(resource: Shared, draws: Draws) -> dict[str, Floats]:
    """Draws of all numbers of a resource that are present."""
    names = ("one_way_Bps", "both_ways_Bps", "both_ways_ratio", "per_message_s")
    amounts = {name: getattr(resource, name) for name in names}
    return {name: draws.of(amount) for name, amount in amounts.items() if amount is not None}


class _Curve:
    """A single message: its start-up and size-dependent time in every draw."""

    def __init__(
        self, model: FittedModel, later: Floats, slower: Floats, slower_from_bytes: float = 0.0
    ) -> None:
        self._message = Message(model)
        self._slower, self._slower_from_bytes = slower, slower_from_bytes
        first = model.segments[0]
        is_line = len(model.segments) == 1 or first.to_bytes >= THRESHOLD_BYTES[1]
        # A fall of which only a range is known bends a line that was drawn through two numbers.
        self.is_straight = is_line or slower_from_bytes > 0
        self._start_s = float(self._message.time_s(np.array(0.0)))
        self.start_s = later * self._start_s

    def bytes_s(self, size_bytes: Floats) -> Floats:
        """The time beyond the start-up, of sizes (draws, sizes)."""
        time_s = self._message.time_s(size_bytes)
        before_s = self._message.time_s(np.minimum(size_bytes, self._slower_from_bytes))
        bytes_s: Floats = before_s - self._start_s + (time_s - before_s) * self._slower[:, None]
        return np.maximum(bytes_s, 0.0)


@dataclass(frozen=True)
class AllToAll:
    """The least times of all-to-alls of a machine whose ranks fill one node after the other.

    No algorithm is faster; starts of messages, and waiting for each other, are not in it.

    Blocks between two leaf switches spread over all of their cables, whatever way a message takes.
    """

    messages: Messages
    draws: Draws = field(default_factory=lambda: Draws(count=1))
    _by_ranks: dict[int, Together] = field(default_factory=dict)

    def least_s(self, ranks: int, size_bytes: int) -> Floats:
        """The least time among ranks with blocks of a size, in every draw."""
        concurrent = self._concurrent
        if ranks not in self._by_ranks:
            pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
            self._by_ranks[ranks] = concurrent.together(pairs)
        sizes = np.full((concurrent.count, 1), float(size_bytes))
        least_s: Floats = concurrent.least_s(self._by_ranks[ranks], sizes)[:, 0]
        return least_s

    def slower(self, ranks: int, size_bytes: int) -> float:
        """The least time over that of a rank's messages one way and alone; at least 1."""
        message = Message(self.messages.curve)
        start_s, alone_s = message.time_s(np.array([0.0, float(size_bytes)]))
        unshared_s = (ranks - 1) * float(alone_s - start_s)
        if unshared_s <= 0:
            return 1.0
        return max(1.0, float(self.least_s(ranks, size_bytes)[0]) / unshared_s)

    @cached_property
    def _concurrent(self) -> ConcurrentMessages:
        """The concurrent messages, with the ranges of the machine drawn once."""
        node = self.messages.machine.node
        per_node = node.ranks if node else 1
        return ConcurrentMessages(self.messages, self.draws, per_node, spread=True)
