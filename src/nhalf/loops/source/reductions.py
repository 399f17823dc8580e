"""Reductions: sums and products over all iterations, of which only the last value is used.

Their terms may be added up in any order, as partial results that do not wait for each other. A
compiler does that where it may regroup (REGROUPING), a programmer anywhere. A running sum, whose
value after each iteration is stored or compared, is no reduction.
"""

from collections.abc import Iterable, Mapping

from nhalf.loops.source.streams import Stream
from nhalf.loops.source.sums import ADDITIONS
from nhalf.loops.source.values import ValueNode

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
