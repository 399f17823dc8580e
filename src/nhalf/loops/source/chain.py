"""The dependency chain between iterations: what each has to wait for of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nhalf.loops.source.sums import Sum, bare
from nhalf.loops.source.values import ARITHMETIC, ValueNode, Values
from nhalf.machines.processor import Processor

Carried = Mapping[int, tuple[ValueNode, int]]
"""Values from an earlier iteration by their ids: the node there, and how many iterations ago."""
UNREACHED = float("-inf")


@dataclass(frozen=True)
class Latencies:
    """Cycles until a result can be used; unfused, a mul finishes before its add begins."""

    known_cycles: Mapping[str, float]
    fuses: bool

    @classmethod
    def of(cls, processor: Processor, fuses: bool) -> Latencies:
        """The latencies of a processor for scalars; 0 if one is unknown."""
        cycles_by_name: dict[str, float] = {
            operation.name: operation.least_cycles or 0.0 for operation in processor.operations
        }
        scalars = {
            operation.name: operation.least_cycles
            for operation in processor.operations
            if operation.lanes == 1
        }
        cycles_by_name |= {name: cycles for name, cycles in scalars.items() if cycles is not None}
        return cls(cycles_by_name, fuses and "fused_multiply_add" in cycles_by_name)

    def __getitem__(self, name: str) -> float:
        name = "add" if name == "subtract" else name
        if name == "fused_multiply_add" and name not in self.known_cycles:
            return self["multiply"] + self["add"]
        return self.known_cycles.get(name, 0.0)


@dataclass(frozen=True)
class CarriedDependency:
    """A dependency of a carried value on a value of the iteration `distance` before."""

    begin: int
    end: int
    cycles: float
    distance: int


def cycles_per_iteration(
    values: Values,
    groups: Mapping[int, Sum],
    carried: Carried,
    latencies: Latencies,
    regroups: bool = False,
) -> float:
    """Cycles of the longest chain divided by the iterations that it spans; 0 if there is none.

    With `regroups` the last factor of a product waits for no other one.
    """
    inside = _Inside(groups, latencies, regroups)
    return slowest_recurrence(_links(values, inside, carried), len(carried))


def slowest_recurrence(links: list[CarriedDependency], count: int) -> float:
    """Cycles per iteration of the slowest recurrence among `count` nodes; 0 if there is none."""
    rate, slower_rate = 0.0, _slower_recurrence(links, count, 0.0)
    while slower_rate is not None and slower_rate > rate + 1e-12:
        rate = slower_rate
        slower_rate = _slower_recurrence(links, count, rate)
    return rate


def _links(values: Values, inside: _Inside, carried: Carried) -> list[CarriedDependency]:
    begins = [node for node in values.nodes.values() if id(node) in carried]
    links = []
    for begin_number, begin in enumerate(begins):
        reach = _Reach(begin, inside)
        for end_number, later in enumerate(begins):
            end, distance = carried[id(later)]
            cycles = reach.cycles(end)
            if cycles > UNREACHED:
                links.append(CarriedDependency(begin_number, end_number, cycles, distance))
    return links


@dataclass
class _Inside:
    """What sums and products are made of."""

    groups: Mapping[int, Sum]
    latencies: Latencies
    regroups: bool
    factors_by_node: dict[int, tuple[ValueNode, ...]] = field(default_factory=dict)

    def factors(self, node: ValueNode) -> tuple[ValueNode, ...]:
        """The arguments of an operation; of a product those of products in it, where that is so."""
        if not self.regroups or node.kind != "multiply" or not node.counted:
            return node.arguments
        if id(node) not in self.factors_by_node:
            inner = {
                id(factor): factor
                for argument in map(bare, node.arguments)
                for factor in (
                    self.factors(argument) if argument.kind == "multiply" else (argument,)
                )
            }
            self.factors_by_node[id(node)] = tuple(inner.values())
        return self.factors_by_node[id(node)]


class _Reach:
    """Fewest cycles from one value to the values that depend on it."""

    def __init__(self, begin: ValueNode, inside: _Inside) -> None:
        self.groups = inside.groups
        self.latencies = inside.latencies
        self.inside = inside
        self.cycles_by_node = {id(begin): 0.0}

    def cycles(self, node: ValueNode) -> float:
        """Cycles from the first value to this one; UNREACHED if it does not depend on it."""
        if id(node) not in self.cycles_by_node:
            group = self.groups.get(id(node))
            self.cycles_by_node[id(node)] = self._sum(group) if group else self._operation(node)
        return self.cycles_by_node[id(node)]

    def _operation(self, node: ValueNode) -> float:
        longest = max(map(self.cycles, self.inside.factors(node)), default=UNREACHED)
        is_counted = node.counted and node.kind in ARITHMETIC
        return longest + (self.latencies[node.kind] if is_counted else 0.0)

    def _sum(self, group: Sum) -> float:
        """Cycles to a sum of terms, which is ready one addition after its last term."""
        fuses = self.latencies.fuses
        is_fused = fuses and group.products and len(group.other_terms) == 1
        add_cycles = self.latencies["fused_multiply_add" if is_fused else "add"]
        times = [self.cycles(term) + add_cycles for term in group.other_terms]
        fused_cycles = self.latencies["fused_multiply_add"]
        unfused_cycles = self.latencies["multiply"] + self.latencies["add"]
        for term in group.products:
            ready = max(map(self.cycles, self.inside.factors(term)))
            times.append(ready + (fused_cycles if fuses else unfused_cycles))
        return max(times)


def _slower_recurrence(links: list[CarriedDependency], count: int, rate: float) -> float | None:
    """Cycles per iteration of a recurrence slower than `rate`; None if there is none.

    Longest paths after R. Bellman (Quart. Appl. Math. 16, 1958): where they grow without end,
    there is such a recurrence.
    """
    longest_cycles = [0.0] * count
    last_link: list[CarriedDependency | None] = [None] * count
    changed = -1
    for _ in range(count + 1):
        changed = -1
        for link in links:
            path_cycles = longest_cycles[link.begin] + link.cycles - rate * link.distance
            if path_cycles > longest_cycles[link.end] + 1e-9:
                longest_cycles[link.end], last_link[link.end], changed = path_cycles, link, link.end
        if changed < 0:
            return None
    return _recurrence_rate(last_link, changed, count)


def _recurrence_rate(
    last_link: list[CarriedDependency | None], start: int, count: int
) -> float | None:
    node = start
    for _ in range(count):
        link = last_link[node]
        node = link.begin if link else node
    first, cycles, distance = node, 0.0, 0
    while (link := last_link[node]) is not None:
        cycles, distance, node = cycles + link.cycles, distance + link.distance, link.begin
        if node == first:
            return cycles / distance
    return None
