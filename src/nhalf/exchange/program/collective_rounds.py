"""Collective operations as messages, for programs without collective operations.

Broadcasts and reductions are binomial trees, gathers and scatters one message for each pair with
the root, all-to-alls one for each pair of ranks; all others are dissemination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nhalf.base.operations import BY_NAME
from nhalf.facts.program.operations import operation
from nhalf.facts.program.schedule import ScheduledCall


@dataclass(frozen=True)
class Round:
    """One step of a rank: a send, a receive, or both at once."""

    to: int | None
    source: int | None
    size_bytes: int


def rounds_of(step: ScheduledCall, rank: int, ranks: Sequence[int]) -> Iterator[Round]:
    """The steps of a rank in a collective operation among `ranks`."""
    name, size_bytes, count = operation(step.call), step.size_bytes, len(ranks)
    position = ranks.index(rank)
    root = ranks.index(step.partner) if step.partner in ranks else 0
    row = BY_NAME.get(name, BY_NAME["barrier"])
    if row.is_rooted and not row.has_blocks:
        downwards = row.flow == "from_root"
        yield from _tree(downwards, (position - root) % count, root, ranks, size_bytes)
    elif row.is_rooted:
        partners = (
            [ranks[root]] if position != root else [member for member in ranks if member != rank]
        )
        takes = (position == root) == (row.flow == "to_root")
        for partner in partners:
            yield Round(None if takes else partner, partner if takes else None, size_bytes)
    elif (row.flow, row.data) == ("among_all", "blocks"):
        for by in range(1, count):
            to, source = ranks[(position + by) % count], ranks[(position - by) % count]
            yield Round(to, source, size_bytes // count)
    else:
        by = 1
        while by < count:
            yield Round(ranks[(position + by) % count], ranks[(position - by) % count], size_bytes)
            by *= 2


def _tree(
    downwards: bool, place: int, root: int, ranks: Sequence[int], size_bytes: int
) -> Iterator[Round]:
    count = len(ranks)
    parent, children = binomial(place, count)
    above = [] if parent is None else [ranks[(parent + root) % count]]
    below = [ranks[(child + root) % count] for child in children]
    first, last = (above, below) if downwards else (below[::-1], above)
    for source in first:
        yield Round(None, source, size_bytes)
    for to in last:
        yield Round(to, None, size_bytes)


def binomial(place: int, count: int) -> tuple[int | None, list[int]]:
    """The parent of a place in the binomial tree of place 0, and its children, farthest first."""
    step = 1
    while step < count and not place & step:
        step *= 2
    children = []
    parent = place - step if place else None
    while step > 1:
        step //= 2
        if place + step < count:
            children.append(place + step)
    return parent, children
