# SPDX-License-Identifier: Apache-2.0
"""The chain that iterations hang on: what each has to wait for of those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.bound.sums import Sum
from nhalf.node.bound.values import ARITHMETIC, Node, Values

Carried = Mapping[int, tuple[Node, int]]
"""Of values from an earlier iteration, by their ids: what they were there, and how long ago."""
UNREACHED = float("-inf")


@dataclass(frozen=True)
class Latencies:
    """Cycles until a result can be used; without fusing, a product is made before it is added."""

    known_cycles: Mapping[str, float]
    fuses: bool

    @classmethod
    def of(cls, processor: Processor, fuses: bool) -> Latencies:
        """Those of a processor for scalars; 0 if one is unknown."""
        known: dict[str, float] = {
            one.name: one.least_cycles or 0.0 for one in processor.operations
        }
        scalars = {one.name: one.least_cycles for one in processor.operations if one.lanes == 1}
        known |= {name: cycles for name, cycles in scalars.items() if cycles is not None}
        return cls(known, fuses and "fused_multiply_add" in known)

    def __getitem__(self, name: str) -> float:
        name = "add" if name == "subtract" else name
        if name == "fused_multiply_add" and name not in self.known_cycles:
            return self["multiply"] + self["add"]
        return self.known_cycles.get(name, 0.0)


@dataclass(frozen=True)
class Link:
    """From a value of an earlier iteration, `distance` before, to one that is carried on."""

    begin: int
    end: int
    cycles: float
    distance: int


def cycles_per_iteration(
    values: Values, groups: Mapping[int, Sum], carried: Carried, latencies: Latencies
) -> float:
    """The longest chain in relation to the iterations that it spans: 0 if there is none."""
    return slowest_circle(_links(values, groups, carried, latencies), len(carried))


def slowest_circle(links: list[Link], count: int) -> float:
    """Cycles per iteration of the circle that takes longest among `count` places; 0 for none."""
    rate, found = 0.0, _worse(links, count, 0.0)
    while found is not None and found > rate + 1e-12:
        rate = found
        found = _worse(links, count, rate)
    return rate


def _links(
    values: Values, groups: Mapping[int, Sum], carried: Carried, latencies: Latencies
) -> list[Link]:
    begins = [node for node in values.nodes.values() if id(node) in carried]
    links = []
    for number, begin in enumerate(begins):
        reach = _Reach(begin, groups, latencies)
        for other, later in enumerate(begins):
            end, distance = carried[id(later)]
            cycles = reach.cycles(end)
            if cycles > UNREACHED:
                links.append(Link(number, other, cycles, distance))
    return links


class _Reach:
    """How many cycles after one value others can be known, at the earliest."""

    def __init__(self, begin: Node, groups: Mapping[int, Sum], latencies: Latencies) -> None:
        self.groups = groups
        self.latencies = latencies
        self.known = {id(begin): 0.0}

    def cycles(self, node: Node) -> float:
        """Cycles from the first value to this one; without end where it does not depend on it."""
        if id(node) not in self.known:
            group = self.groups.get(id(node))
            self.known[id(node)] = self._sum(group) if group else self._operation(node)
        return self.known[id(node)]

    def _operation(self, node: Node) -> float:
        longest = max(map(self.cycles, node.arguments), default=UNREACHED)
        is_counted = node.counted and node.kind in ARITHMETIC
        return longest + (self.latencies[node.kind] if is_counted else 0.0)

    def _sum(self, group: Sum) -> float:
        """The last term that is added is the one that is waited for."""
        fuses = self.latencies.fuses
        is_fused = fuses and group.products and len(group.others) == 1
        added = self.latencies["fused_multiply_add" if is_fused else "add"]
        times = [self.cycles(term) + added for term in group.others]
        together = self.latencies["fused_multiply_add"]
        apart = self.latencies["multiply"] + self.latencies["add"]
        for term in group.products:
            ready = max(map(self.cycles, term.arguments))
            times.append(ready + (together if fuses else apart))
        return max(times)


def _worse(links: list[Link], count: int, rate: float) -> float | None:
    """The rate of a circle of links that takes longer than `rate` cycles an iteration.

    By the longest ways of R. Bellman (Quart. Appl. Math. 16, 1958): where they grow without end,
    there is such a circle.
    """
    best = [0.0] * count
    last: list[Link | None] = [None] * count
    changed = -1
    for _ in range(count + 1):
        changed = -1
        for link in links:
            there = best[link.begin] + link.cycles - rate * link.distance
            if there > best[link.end] + 1e-9:
                best[link.end], last[link.end], changed = there, link, link.end
        if changed < 0:
            return None
    return _rate_of_circle(last, changed, count)


def _rate_of_circle(last: list[Link | None], start: int, count: int) -> float | None:
    place = start
    for _ in range(count):
        link = last[place]
        place = link.begin if link else place
    first, cycles, distance = place, 0.0, 0
    while (link := last[place]) is not None:
        cycles, distance, place = cycles + link.cycles, distance + link.distance, link.begin
        if place == first:
            return cycles / distance
    return None
