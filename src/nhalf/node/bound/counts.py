# SPDX-License-Identifier: Apache-2.0
"""What a loop cannot do without: its essential operations, counted in the source.

Rules of Abandah, Modeling the Communication and Computation Performance of the IBM SP2, 1995,
after Boyd and Davidson, Hierarchical performance modeling with MACS, 1993.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from nhalf.machines.processor import Processor
from nhalf.node.bound.chain import Latencies, cycles_per_iteration
from nhalf.node.bound.iteration import Iteration
from nhalf.node.bound.streams import Stream, sources, streams
from nhalf.node.bound.sums import sums


@dataclass(frozen=True)
class Counts:
    """Per iteration of one loop: operations by their name, and the streams that it walks along.

    `chain_cycles` is what an iteration waits for the one before it, on a processor and with or
    without fused multiply-adds.
    """

    function: str
    line: int
    operations: Counter[str]
    streams: tuple[Stream, ...]
    chain_cycles: Callable[[Processor, bool], float] = field(repr=False)
    trips: int | None = None

    def of(self, name: str) -> int:
        """How many operations of a name there are."""
        return self.operations[name]

    @property
    def loads(self) -> int:
        """Distinct values that are read before they are written."""
        return sum(stream.loads for stream in self.streams)

    @property
    def stores(self) -> int:
        """Distinct values that are written and not temporary."""
        return sum(stream.stores for stream in self.streams)

    @property
    def flops(self) -> int:
        """Operations as programs count them: a division or a square root is four."""
        weights = {"fused_multiply_add": 2, "divide": 4, "square_root": 4}
        return sum(weights.get(name, 1) * count for name, count in self.operations.items())


def count(iteration: Iteration) -> Counts:
    """The essential operations of a loop; raises Refused if they cannot be counted."""
    found = streams(iteration.accesses)
    values = iteration.values
    operations = list(values.counted())
    groups = sums(operations, values.uses())
    counted: Counter[str] = Counter(
        node.kind for node in operations if node.kind not in {"add", "subtract"}
    )
    fused = sum(group.fused for group in groups.values())
    counted["fused_multiply_add"] += fused
    counted["multiply"] -= fused
    counted["add"] += sum(group.additions for group in groups.values()) - fused
    carried = {id(begin): (end, 1) for begin, end in iteration.carried} | sources(found)

    def chain(processor: Processor, fuses: bool) -> float:
        return cycles_per_iteration(values, groups, carried, Latencies.of(processor, fuses))

    return Counts(
        *(iteration.function, iteration.line, +Counter(dict(counted)), tuple(found)),
        chain_cycles=chain,
        trips=iteration.trips,
    )
