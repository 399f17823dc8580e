"""The essential operations of a loop, counted in the source.

Rules of Abandah, Modeling the Communication and Computation Performance of the IBM SP2, 1995,
after Boyd and Davidson, Hierarchical performance modeling with MACS, 1993.

Beside them stand the operations as the source has them, which compilers keep that neither regroup
nor vectorise: equal ones are computed once, and an element that two iterations read is loaded by
both. What is under a condition counts half.

Of essential operations sums and products may be taken in any order and association, equal ones are
computed once, and a product that is only added is part of each addition. Products are not
multiplied out, nor are common factors of a sum put outside.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nhalf.loops.source.chain import Carried, Latencies, cycles_per_iteration
from nhalf.loops.source.iteration import Iteration
from nhalf.loops.source.memory import GUARDED
from nhalf.loops.source.misses import Misses
from nhalf.loops.source.products import PRODUCTS, Monomial, Monomials, needed
from nhalf.loops.source.streams import Stream, sources, streams
from nhalf.loops.source.sums import ADDITIONS, Consumers, Sum, reductions, sums
from nhalf.loops.source.values import ARITHMETIC, ValueNode
from nhalf.machines.processor import Processor

TRIED_MAX = 10
"""All choices of at most this many shared products are tried; the count of more is bounded."""


@dataclass(frozen=True)
class Essential:
    """Operations by name: with multiply-adds, and without."""

    fused: Counter[str]
    unfused: Counter[str]


@dataclass(frozen=True)
class _Terms:
    """The distinct terms of a sum by their monomials, and how many additions join them."""

    products: frozenset[Monomial]
    plain_terms: frozenset[Monomial]
    additions: int


def essential(sums_by_node: Mapping[int, Sum], consumers: Consumers) -> Essential:
    """The fewest operations of each kind."""
    monomials = Monomials(lambda node: _single(node, sums_by_node, monomials))
    elsewhere = _used_elsewhere(consumers, monomials, sums_by_node)
    sums = _with_additions([*sums_by_node.values()], monomials, elsewhere)
    added = {monomial for terms in sums for monomial in terms.products}
    plain_terms = {term for terms in sums for term in terms.plain_terms}
    needs = needed(elsewhere | added | plain_terms, (added | plain_terms) - elsewhere)
    unfused: Counter[str] = Counter(
        node.kind
        for node in consumers.live_operations
        if node.kind not in ADDITIONS and node.kind not in PRODUCTS
    )
    unfused["divide"] += needs.divisions
    fused = Counter(unfused)
    unfused["multiply"] += sum(needs.multiplications.values())
    unfused["add"] += sum(terms.additions for terms in sums)
    absorbed = added - elsewhere
    alone = [terms.products for terms in sums if not terms.plain_terms]
    fused["multiply"] += unfused["multiply"] - len(absorbed) + _computed(alone, absorbed)
    multiply_adds = sum(min(terms.additions, len(terms.products & absorbed)) for terms in sums)
    fused["fused_multiply_add"] += multiply_adds
    fused["add"] += unfused["add"] - multiply_adds
    return Essential(+fused, +unfused)


def _single(
    node: ValueNode, sums_by_node: Mapping[int, Sum], monomials: Monomials
) -> Monomial | None:
    """The monomial of a sum in which one term is left; None for any other value."""
    if id(node) not in sums_by_node:
        return None
    terms = _merged(sums_by_node[id(node)], monomials)
    if len(terms) != 1:
        return None
    ((term, sign),) = terms.items()
    return replace(term, coefficient_ratio=sign * term.coefficient_ratio)


def _used_elsewhere(
    consumers: Consumers, monomials: Monomials, sums_by_node: Mapping[int, Sum]
) -> set[Monomial]:
    """The products, and sums of one term, that anything but a sum or a product uses."""
    used = set()
    for node in consumers.live_operations:
        is_product = node.kind in PRODUCTS or _single(node, sums_by_node, monomials) is not None
        if is_product and any(
            consumer is None or not consumer.counted or consumer.kind not in ADDITIONS | PRODUCTS
            for consumer in consumers.of(node)
        ):
            used.add(monomials.of(node).unsigned)
    return used


def _with_additions(
    sums: Sequence[Sum], monomials: Monomials, elsewhere: set[Monomial]
) -> list[_Terms]:
    """The terms of each sum; equal terms are one, and sums share what they have in common."""
    terms_by_sum: list[_Terms] = []
    held: list[Mapping[object, int]] = []
    holders: dict[object, list[int]] = {}
    for group in sorted(sums, key=lambda group: -len(group.terms)):
        terms = _merged(group, monomials)
        if len(terms) < 2:
            continue
        signs: dict[object, int] = {term: sign for term, sign in terms.items()}
        opposite = {term: -sign for term, sign in signs.items()}
        is_known = signs in held or opposite in held
        additions = max(len(terms) - 1 - _common(signs, held, holders), 0 if is_known else 1)
        for key in signs:
            holders.setdefault(key, []).append(len(held))
        held.append(signs)
        products = frozenset(term for term in terms if term.is_product and term not in elsewhere)
        terms_by_sum.append(_Terms(products, frozenset(terms) - products, additions))
    return terms_by_sum


def _merged(group: Sum, monomials: Monomials) -> dict[Monomial, int]:
    """The terms of a sum with their signs; those of the same factors are one, with a new scale."""
    by_powers: dict[object, list[Monomial]] = {}
    for node, sign in group.terms:
        monomial = monomials.of(node)
        signed = replace(monomial, coefficient_ratio=sign * monomial.coefficient_ratio)
        by_powers.setdefault(monomial.powers, []).append(signed)
    terms: dict[Monomial, int] = {}
    for alike in by_powers.values():
        coefficients: dict[frozenset[tuple[int, int]], float] = {}
        for monomial in alike:
            coefficients.setdefault(monomial.scale, 0.0)
            coefficients[monomial.scale] += monomial.coefficient_ratio
        coefficients = {scale: value for scale, value in coefficients.items() if value}
        if len(coefficients) == 1:
            ((scale, value),) = coefficients.items()
            term = replace(alike[0], scale=scale, coefficient_ratio=value)
            terms[term.unsigned] = 1 if value > 0 else -1
        elif coefficients:
            terms[
                replace(alike[0], scale=frozenset({(id(group.root), 1)}), coefficient_ratio=1.0)
            ] = 1
    return terms


def _common(
    signs: Mapping[object, int],
    held: Sequence[Mapping[object, int]],
    holders: Mapping[object, list[int]],
) -> int:
    """How many additions other sums may have done: one less than the terms in common."""
    alike: dict[int, Counter[int]] = {}
    for key, sign in signs.items():
        for number in holders.get(key, ()):
            alike.setdefault(number, Counter())[sign * held[number][key]] += 1
    return sum(max(0, max(counts.values()) - 1) for counts in alike.values())


def _computed(alone: Sequence[frozenset[Monomial]], absorbed: set[Monomial]) -> int:
    """How many products have to be computed, since each sum of nothing else begins with one."""
    own = [products for products in alone if products <= absorbed]
    shared = [
        monomial
        for monomial, count in Counter(itertools.chain.from_iterable(own)).items()
        if count > 1
    ]
    sums = [products & frozenset(shared) for products in own]
    single = sum(not products for products in sums)
    covering = [products for products in sums if products]
    if len(shared) > TRIED_MAX:
        widest = max(sum(monomial in products for products in covering) for monomial in shared)
        return single + -(-len(covering) // widest)
    for count in range(len(covering) + 1):
        for chosen in itertools.combinations(shared, min(count, len(shared))):
            uncovered = sum(products.isdisjoint(chosen) for products in covering)
            if len(chosen) + uncovered <= count:
                return single + count
    return single + len(covering)


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

    stored = {stream.array.name for stream in loop_streams if stream.stores}
    return LoopCounts(
        *(iteration.function, iteration.line, operations, tuple(loop_streams)),
        chain_cycles=chain(carried, regroups=False),
        regrouped_chain_cycles=chain(waiting, regroups=True),
        written_per_iteration=written(iteration),
        passes_memory=len(stored) > 1 and bool(sources(loop_streams)),
        trips=iteration.trips,
    )
