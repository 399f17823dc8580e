"""Sums of several terms in any order and association, to count fusible multiply-adds.

A sum within a sum is part of it where nothing else uses it, so that each product is fused with an
addition wherever there is one. Fortran allows compilers to reorder sums in this way.

Reductions are sums and products over all iterations, of which only the last value is used. Their
terms may be added up in any order, as partial results that do not wait for each other. A compiler
does that where it may regroup (REGROUPING), a programmer anywhere. A running sum, whose value after
each iteration is stored or compared, is no reduction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nhalf.loops.source.streams import Stream
from nhalf.loops.source.values import ARITHMETIC, ValueNode, Values

ADDITIONS = {"add", "subtract"}


@dataclass
class Consumers:
    """What uses the values that every iteration needs: other values, or None for a store."""

    live_operations: list[ValueNode] = field(default_factory=list)
    by_node: dict[int, list[ValueNode | None]] = field(default_factory=dict)

    @classmethod
    def of_needed(cls, values: Values) -> Consumers:
        """The consumers of an iteration; what nothing needs is not among the operations."""
        consumers = cls()
        pending: list[tuple[ValueNode, ValueNode | None]] = [(node, None) for node in values.needed]
        while pending:
            signed, consumer = pending.pop()
            node = bare(signed)
            is_new = id(node) not in consumers.by_node
            consumers.by_node.setdefault(id(node), []).append(consumer)
            if is_new and node.varies:
                pending += [(argument, node) for argument in node.arguments]
        live = consumers.by_node
        consumers.live_operations = [
            node
            for node in values.nodes.values()
            if id(node) in live and node.varies and node.counted and node.kind in ARITHMETIC
        ]
        return consumers

    def of(self, node: ValueNode) -> Sequence[ValueNode | None]:
        """What uses a value, once for each use."""
        return self.by_node.get(id(node), ())

    def only_added(self, node: ValueNode) -> bool:
        """Whether nothing but additions uses a value."""
        return all(_is_addition(consumer) for consumer in self.of(node))

    def is_inner(self, node: ValueNode) -> bool:
        """Whether a sum is part of another one, and of nothing else."""
        return _is_addition(node) and len(self.of(node)) == 1 and self.only_added(node)


@dataclass(frozen=True)
class Sum:
    """A sum, by its last addition: its terms, each with its sign.

    `products` are those that only sums use; all loop-invariant `other_terms` count as one.
    """

    root: ValueNode
    terms: tuple[tuple[ValueNode, int], ...]
    products: tuple[ValueNode, ...]
    other_terms: tuple[ValueNode, ...]


def sums(consumers: Consumers) -> dict[int, Sum]:
    """The sums among operations, by the id of their last addition."""
    additions = [node for node in consumers.live_operations if node.kind in ADDITIONS]
    return {id(node): _sum(node, consumers) for node in additions if not consumers.is_inner(node)}


def _sum(root: ValueNode, consumers: Consumers) -> Sum:
    terms: list[tuple[ValueNode, int]] = []
    pending = _signed_terms(root, 1)
    while pending:
        node, sign = pending.pop(0)
        if consumers.is_inner(node):
            pending = [*_signed_terms(node, sign), *pending]
        else:
            terms.append((node, sign))
    products = [
        node
        for node, _ in terms
        if node.varies and node.kind == "multiply" and node.counted and consumers.only_added(node)
    ]
    product_ids = {id(node) for node in products}
    other_terms = [node for node, _ in terms if node.varies and id(node) not in product_ids]
    invariant_terms = [node for node, _ in terms if not node.varies]
    return Sum(root, tuple(terms), tuple(products), (*other_terms, *invariant_terms[:1]))


def _signed_terms(node: ValueNode, sign: int) -> list[tuple[ValueNode, int]]:
    first, second = node.arguments
    second_sign = -sign if node.kind == "subtract" else sign
    return [_signed(first, sign), _signed(second, second_sign)]


def _signed(node: ValueNode, sign: int) -> tuple[ValueNode, int]:
    while node.kind == "negate":
        (node,), sign = node.arguments, -sign
    return node, sign


def bare(node: ValueNode) -> ValueNode:
    """A term without its signs."""
    return _signed(node, 1)[0]


def _is_addition(node: ValueNode | None) -> bool:
    return node is not None and node.kind in ADDITIONS and node.counted


REGROUPING = "-ffast-math"
"""The option of gcc and clang that lets them regroup; -fassociative-math is the part of it."""


def reductions(
    carried: Mapping[int, tuple[ValueNode, int]],
    begins: Iterable[ValueNode],
    streams: Iterable[Stream],
    uses: Mapping[int, int],
) -> set[int]:
    """The ids of carried values that are partial results of a reduction.

    `begins` are the values at the begin of an iteration; an element of an array can be a reduction
    where no iteration leaves it.
    """
    moving = {
        id(access.node)
        for stream in streams
        if stream.moves
        for _, access in stream.members
        if access.node is not None
    }
    return {
        id(begin)
        for begin in begins
        if id(begin) in carried
        and id(begin) not in moving
        and _is_reduced(begin, *carried[id(begin)], uses)
    }


def _is_reduced(begin: ValueNode, end: ValueNode, distance: int, uses: Mapping[int, int]) -> bool:
    """Whether an iteration only adds to the value, or only multiplies it."""
    if distance != 1 or uses.get(id(begin), 0) != 1:
        return False
    kinds = {"multiply"} if end.kind == "multiply" else ADDITIONS
    node = end
    while node.kind in kinds and node.counted and uses.get(id(node), 0) == 1:
        if begin in _growing(node):
            return True
        inner = [term for term in _growing(node) if _holds(term, begin)]
        if not inner:
            return False
        (node,) = inner
    return False


def _growing(node: ValueNode) -> tuple[ValueNode, ...]:
    """The arguments that keep their sign: of a difference the first."""
    return node.arguments[:1] if node.kind == "subtract" else node.arguments


def _holds(node: ValueNode, argument: ValueNode) -> bool:
    """Whether a value is, or depends on, another one."""
    return node is argument or any(_holds(term, argument) for term in node.arguments)
