"""The essential operations of a loop, counted in the source.

Rules of Abandah, Modeling the Communication and Computation Performance of the IBM SP2, 1995,
after Boyd and Davidson, Hierarchical performance modeling with MACS, 1993.

Beside them stand the operations as the source has them, which compilers keep that neither regroup
nor vectorise: equal ones are computed once, and an element that two iterations read is loaded by
both. What is under a condition counts half.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nhalf.loops.source.chain import Carried, Latencies, cycles_per_iteration
from nhalf.loops.source.essential import Essential, essential
from nhalf.loops.source.iteration import Iteration
from nhalf.loops.source.memory import GUARDED
from nhalf.loops.source.misses import Misses
from nhalf.loops.source.streams import Stream, sources, streams
from nhalf.loops.source.sums import Consumers, reductions, sums
from nhalf.loops.source.values import ARITHMETIC
from nhalf.machines.processor import Processor


def written(iteration: Iteration) -> dict[str, float]:
    """Operations by the names that a processor has for them; products are not fused."""
    amounts = defaultdict[str, float](float)
    amounts["integer"] = iteration.plain_per_iteration.get("integer", 0)
    amounts["add"] = iteration.plain_per_iteration.get("compare", 0)
    used = iteration.values.uses()
    for node in iteration.values.nodes.values():
        if node.varies and node.kind in ARITHMETIC and id(node) in used:
            name = "add" if node.kind == "subtract" else node.kind
            amounts[name] += 1 if node.counted else GUARDED
    accessed, stored = set[str](), set[str]()
    for access in iteration.accesses:
        key, own = access.place.key, GUARDED if access.guarded else 1
        if not any(subscript.varies for subscript in access.place.subscripts):
            continue
        if access.is_write and key not in stored:
            amounts["store"] += own
            stored.add(key)
        elif not access.is_write and key not in accessed:
            amounts["load"] += own
        accessed.add(key)
    return amounts


@dataclass(frozen=True)
class LoopCounts:
    """Per iteration of one loop: its operations, and the streams that it accesses.

    `chain_cycles` are the cycles that an iteration waits for the one before it, on a processor and
    with or without fused multiply-adds; `regrouped_chain_cycles` those where sums and products over
    all iterations may be regrouped.
    """

    function: str
    line: int
    operations: Essential
    streams: tuple[Stream, ...]
    chain_cycles: Callable[[Processor, bool], float] = field(repr=False)
    regrouped_chain_cycles: Callable[[Processor, bool], float] = field(repr=False)
    written_per_iteration: Mapping[str, float] = field(default_factory=dict)
    """Operations as the source has them, by name: see `written`."""
    passes_memory: bool = False
    """Whether iterations pass values on in an array while they store to another one, too."""
    trips: int | None = None
    misses: tuple[Misses, ...] = ()
    """Misses of each level from the first on, where they are known from the loops before it."""

    def of(self, name: str) -> int:
        """The count of operations of this name where products are fused with additions."""
        return self.operations.fused[name]

    @property
    def loads(self) -> int:
        """The count of distinct values that are read before they are written."""
        return sum(stream.loads for stream in self.streams)

    @property
    def stores(self) -> int:
        """The count of distinct values that are written and not temporary."""
        return sum(stream.stores for stream in self.streams)

    @property
    def flops(self) -> int:
        """Floating-point operations by convention: a division or a square root counts as four."""
        weights = {"fused_multiply_add": 2, "divide": 4, "square_root": 4}
        return sum(weights.get(name, 1) * count for name, count in self.operations.fused.items())


def _passes_memory(loop_streams: Sequence[Stream]) -> bool:
    stored = {stream.array.name for stream in loop_streams if stream.stores}
    return len(stored) > 1 and bool(sources(loop_streams))


def count(iteration: Iteration) -> LoopCounts:
    """Count the essential operations of a loop; raises RefusedSource if they cannot be counted."""
    loop_streams = streams(iteration.accesses, iteration.reach)
    values = iteration.values
    uses = values.uses()
    consumers = Consumers.of_needed(values)
    sums_by_node = sums(consumers)
    operations = essential(sums_by_node, consumers)
    carried = {id(begin): (end, 1) for begin, end in iteration.carried} | sources(loop_streams)

    begins = [node for node in values.nodes.values() if id(node) in carried]
    reduced = reductions(carried, begins, loop_streams, uses)
    waiting = {begin: end for begin, end in carried.items() if begin not in reduced}

    def chain(links: Carried, regroups: bool) -> Callable[[Processor, bool], float]:
        return lambda processor, fuses: cycles_per_iteration(
            values, sums_by_node, links, Latencies.of(processor, fuses), regroups
        )

    return LoopCounts(
        *(iteration.function, iteration.line, operations, tuple(loop_streams)),
        chain_cycles=chain(carried, regroups=False),
        regrouped_chain_cycles=chain(waiting, regroups=True),
        written_per_iteration=written(iteration),
        passes_memory=_passes_memory(loop_streams),
        trips=iteration.trips,
    )
