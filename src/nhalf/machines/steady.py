"""The rates of ranks that send message after message through shared resources.

Unlike messages that start at once until the last has arrived (`together`), no rank waits for
another: a rank whose messages meet no bottleneck continues at its own rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable

import numpy as np
from scipy.sparse import csr_array

from nhalf.base.arrays import Floats
from nhalf.machines.max_min import max_min
from nhalf.machines.shared import Shared
from nhalf.machines.together import ConcurrentMessages, Pairs, cables
from nhalf.machines.topology import Crossbar, Direct, FatTree

OUT, INTO = 0, 1


class SteadyFlows:
    """Flows of messages of one size between the ranks of a machine."""

    def __init__(self, together: ConcurrentMessages, pairs: Pairs, size_bytes: float) -> None:
        self._messages, self._pairs, self._size_bytes = together, pairs, size_bytes
        self._passing: dict[Hashable, list[int]] = defaultdict(list)
        self._capacity_Bps: dict[Hashable, Floats] = {}

    def rates_Bps(self) -> Floats:
        """The rate of each pair, (draws, pairs)."""
        curve_indices = [self._messages.curve_index(*pair) for pair in self._pairs]
        alone_s = {
            curve_index: self._messages.alone_s(curve_index, self._size_bytes)
            for curve_index in set(curve_indices)
        }
        alone_Bps = np.stack(
            [self._size_bytes / alone_s[curve_index] for curve_index in curve_indices], axis=1
        )
        self._ranks(alone_Bps)
        for resource, amounts in self._messages.shared:
            self._share(resource, amounts)
        self._network()
        rows, columns = [], []
        for row, flows in enumerate(self._passing.values()):
            rows += [row] * len(flows)
            columns += flows
        shape = len(self._passing), len(self._pairs)
        use = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        capacity = np.stack([self._capacity_Bps[name] for name in self._passing], axis=1)
        return max_min(use, capacity, alone_Bps)

    def _add(self, name: Hashable, flow: int, capacity_Bps: Floats) -> None:
        """Add a flow to a resource."""
        self._passing[name].append(flow)
        self._capacity_Bps[name] = capacity_Bps

    def _ranks(self, alone_Bps: Floats) -> None:
        """Add ranks: each sends and receives at its fastest flow's rate, both ways at its ratio."""
        one_way: dict[tuple[int, int], Floats] = {}
        for flow, pair in enumerate(self._pairs):
            for end, rank in enumerate(pair):
                highest_Bps = one_way.get((rank, end))
                higher_Bps = (
                    alone_Bps[:, flow]
                    if highest_Bps is None
                    else np.maximum(highest_Bps, alone_Bps[:, flow])
                )
                one_way[rank, end] = higher_Bps
        for flow, pair in enumerate(self._pairs):
            for end, rank in enumerate(pair):
                self._add(("rank", rank, end), flow, one_way[rank, end])
                opposite_Bps = one_way.get((rank, 1 - end))
                if opposite_Bps is not None:
                    # Half of the time each way at a ratio of 1, so a mean of both rates.
                    both_Bps = self._messages.ratio() * (one_way[rank, end] + opposite_Bps) / 2
                    self._add(("rank both ways", rank), flow, both_Bps)

    def _share(self, resource: Shared, amounts: dict[str, Floats]) -> None:
        """Add the flows through one kind of shared resource."""
        for flow, pair in enumerate(self._pairs):
            if resource.what != "memory" and not self._messages.crosses_nodes(pair):
                continue
            if resource.what == "medium":
                self._add("medium", flow, amounts["both_ways_Bps"])
                continue
            for end, rank in enumerate(pair):
                owner = (resource.what, resource.ranks, *self._messages.owner(resource, rank))
                if "one_way_Bps" in amounts:
                    self._add((*owner, end), flow, amounts["one_way_Bps"])
                if "both_ways_Bps" in amounts:
                    self._add(owner, flow, amounts["both_ways_Bps"])
                if "per_message_s" in amounts:
                    busy_Bps = self._size_bytes / amounts["per_message_s"]
                    self._add((*owner, "messages"), flow, busy_Bps)

    def _network(self) -> None:
        """Add the flows through adapters, links and cables."""
        network = self._messages.machine.network
        if network is None:
            return
        topology = network.topology
        unity = np.ones(self._messages.count)
        links: dict[Hashable, list[int]] = defaultdict(list)
        for flow, pair in enumerate(self._pairs):
            if not self._messages.crosses_nodes(pair):
                continue
            nodes = self._messages.node(pair[OUT]), self._messages.node(pair[INTO])
            for end, node in enumerate(nodes):
                if network.adapter_Bps:
                    self._add(("adapter", node, end), flow, unity * network.adapter_Bps)
                if isinstance(topology, FatTree | Crossbar):
                    links["link", node, end if network.duplex else 0].append(flow)
            if isinstance(topology, Direct):
                links["link", *nodes].append(flow)
            if isinstance(topology, FatTree) and len(topology.down) == 2:
                for cable in cables(topology, nodes):
                    links[cable].append(flow)
        for name, flows in links.items():
            self._link(name, flows)

    def _link(self, name: Hashable, flows: Iterable[int]) -> None:
        """Add flows to a link, whose rate is lower if several of them block each other."""
        flows = list(flows)
        rate_Bps = self._messages.link_Bps
        if rate_Bps is None:
            return
        for flow in flows:
            self._add(name, flow, rate_Bps * (self._messages.blocking if len(flows) > 1 else 1.0))
