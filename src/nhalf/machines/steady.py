# SPDX-License-Identifier: Apache-2.0
"""The rates of ranks that send message after message: those of the resources that they share.

Other than where all messages start at once and the last one counts (`together`), nobody waits for
anybody: a rank whose messages meet no narrow place goes on at its own pace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable

import numpy as np
from scipy.sparse import csr_array

from nhalf.base.arrays import Floats
from nhalf.machines.max_min import max_min
from nhalf.machines.shared import Shared
from nhalf.machines.together import Pairs, Together, cables
from nhalf.machines.topology import Crossbar, Direct, FatTree

OUT, INTO = 0, 1


class Steady:
    """Flows between the ranks of a machine, of messages of one size in bytes."""

    def __init__(self, together: Together, pairs: Pairs, size_bytes: float) -> None:
        self._of, self._pairs, self._size_bytes = together, pairs, size_bytes
        self._passing: dict[Hashable, list[int]] = defaultdict(list)
        self._capacity_Bps: dict[Hashable, Floats] = {}

    def rates_Bps(self) -> Floats:
        """The rate of each pair, (draws, pairs)."""
        kinds = [self._of.kind(*pair) for pair in self._pairs]
        alone = {kind: self._of.alone_s(kind, self._size_bytes) for kind in set(kinds)}
        most = np.stack([self._size_bytes / alone[kind] for kind in kinds], axis=1)
        self._ranks(most)
        for each, amounts in self._of.shared:
            self._share(each, amounts)
        self._network()
        rows, columns = [], []
        for row, flows in enumerate(self._passing.values()):
            rows += [row] * len(flows)
            columns += flows
        shape = len(self._passing), len(self._pairs)
        use = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        capacity = np.stack([self._capacity_Bps[name] for name in self._passing], axis=1)
        return max_min(use, capacity, most)

    def _add(self, name: Hashable, flow: int, capacity_Bps: Floats) -> None:
        """A flow through a resource."""
        self._passing[name].append(flow)
        self._capacity_Bps[name] = capacity_Bps

    def _ranks(self, most: Floats) -> None:
        """A rank sends as much as its fastest flow, receives as much, and both ways its ratio."""
        one_way: dict[tuple[int, int], Floats] = {}
        for flow, pair in enumerate(self._pairs):
            for end, rank in enumerate(pair):
                known = one_way.get((rank, end))
                found = most[:, flow] if known is None else np.maximum(known, most[:, flow])
                one_way[rank, end] = found
        for flow, pair in enumerate(self._pairs):
            for end, rank in enumerate(pair):
                self._add(("rank", rank, end), flow, one_way[rank, end])
                other = one_way.get((rank, 1 - end))
                if other is not None:
                    # Half of the time each way at a ratio of 1, so a mean of both rates.
                    both_Bps = self._of.ratio() * (one_way[rank, end] + other) / 2
                    self._add(("rank both ways", rank), flow, both_Bps)

    def _share(self, each: Shared, amounts: dict[str, Floats]) -> None:
        """The flows through one kind of thing that ranks share."""
        for flow, pair in enumerate(self._pairs):
            if each.what != "memory" and not self._of.is_away(pair):
                continue
            if each.what == "medium":
                self._add("medium", flow, amounts["both_ways_Bps"])
                continue
            for end, rank in enumerate(pair):
                owner = (each.what, each.ranks, *self._of.owner(each, rank))
                if "one_way_Bps" in amounts:
                    self._add((*owner, end), flow, amounts["one_way_Bps"])
                if "both_ways_Bps" in amounts:
                    self._add(owner, flow, amounts["both_ways_Bps"])
                if "per_message_s" in amounts:
                    busy_Bps = self._size_bytes / amounts["per_message_s"]
                    self._add((*owner, "messages"), flow, busy_Bps)

    def _network(self) -> None:
        """Adapters, links and cables."""
        network = self._of.machine.network
        if network is None:
            return
        tree = network.topology
        one = np.ones(self._of.count)
        links: dict[Hashable, list[int]] = defaultdict(list)
        for flow, pair in enumerate(self._pairs):
            if not self._of.is_away(pair):
                continue
            nodes = self._of.node(pair[OUT]), self._of.node(pair[INTO])
            for end, node in enumerate(nodes):
                if network.adapter_Bps:
                    self._add(("adapter", node, end), flow, one * network.adapter_Bps)
                if isinstance(tree, FatTree | Crossbar):
                    links["link", node, end if network.duplex else 0].append(flow)
            if isinstance(tree, Direct):
                links["link", *nodes].append(flow)
            if isinstance(tree, FatTree) and len(tree.down) == 2:
                for passed in cables(tree, nodes):
                    links[passed].append(flow)
        for name, flows in links.items():
            self._link(name, flows)

    def _link(self, name: Hashable, flows: Iterable[int]) -> None:
        """Less than its rate where messages wait for others."""
        flows = list(flows)
        rate_Bps = self._of.link_Bps
        if rate_Bps is None:
            return
        for flow in flows:
            self._add(name, flow, rate_Bps * (self._of.blocking if len(flows) > 1 else 1.0))
