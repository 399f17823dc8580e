# SPDX-License-Identifier: Apache-2.0
"""Streams: elements that iterations walk through, so that each is loaded and stored once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from nhalf.node.bound.polynomial import Polynomial
from nhalf.node.bound.refusal import Refused
from nhalf.node.bound.values import Access, Node
from nhalf.node.bound.variables import Variable

Steps = tuple[Polynomial, ...]


@dataclass
class Stream:
    """Accesses that come past the same elements, with how many iterations each is ahead."""

    steps: Steps
    members: list[tuple[int, Access]] = field(default_factory=list)

    @property
    def of(self) -> Variable:
        """The array."""
        return self.members[0][1].of

    @property
    def moves(self) -> bool:
        """Whether another element comes with each iteration."""
        return any(step.terms for step in self.steps) or self.is_indirect

    @property
    def is_indirect(self) -> bool:
        """Whether its subscripts are data."""
        return any(one.is_indirect for one in self.members[0][1].place.subscripts)

    @property
    def in_order(self) -> list[tuple[int, Access]]:
        """As an element meets them: those that are ahead first, then as the source has them."""
        made = [(ahead, one) for ahead, one in self.members if not one.guarded]
        return sorted(made, key=lambda pair: -pair[0])

    @property
    def loads(self) -> int:
        """1 if an element is read before it is written.

        One whose subscript an iteration may keep, as that of the least so far, may stay as well.
        """
        first = self.in_order[:1]
        is_kept = any(one.is_kept for one in self.members[0][1].place.subscripts)
        return int(self.moves and bool(first) and not first[0][1].is_write and not is_kept)

    @property
    def stores(self) -> int:
        """1 if an element is written."""
        return int(self.moves and any(one.is_write for _, one in self.in_order))

    def writes(self) -> list[tuple[int, Access]]:
        """Accesses that write."""
        return [(ahead, one) for ahead, one in self.members if one.is_write]


def streams(accesses: Iterable[Access]) -> list[Stream]:
    """The accesses of an iteration as streams; raises Refused if that cannot be decided."""
    listed = list(accesses)
    _check_overlaps(listed)
    found: list[Stream] = []
    for access in listed:
        steps = tuple(
            Polynomial() if one.is_indirect else one.step() for one in access.place.subscripts
        )
        for stream in found:
            ahead = _ahead(stream, access, steps)
            if ahead is not None:
                stream.members.append((ahead, access))
                break
        else:
            found.append(Stream(steps, [(0, access)]))
    return found


def _ahead(stream: Stream, access: Access, steps: Steps) -> int | None:
    """How many iterations an access is ahead of the first one of a stream; None: not in it."""
    first = stream.members[0][1]
    if first.place.base != access.place.base or stream.steps != steps:
        return None
    pairs = zip(access.place.subscripts, first.place.subscripts, steps, strict=True)
    found: int | None = None
    for one, other, step in pairs:
        if one.is_indirect or other.is_indirect or not step.terms:
            if one != other:
                return None
            continue
        apart = (one - other).multiple_of(step)
        if apart is None or found not in {None, apart}:
            return None
        found = apart
    return found or 0


def _check_overlaps(accesses: list[Access]) -> None:
    """Refuse what may or may not be the same element, where one of both is written."""
    kept: dict[str, Access] = {}
    for access in accesses:
        key = f"{access.is_write} {access.place.key}"
        kept.setdefault(key, access)
    for one, other in combinations(kept.values(), 2):
        if one.is_write or other.is_write:
            _check_pair(one, other)


def _check_pair(one: Access, other: Access) -> None:
    written, also = (one, other) if one.is_write else (other, one)
    a, b = written.of, also.of
    if a.name != b.name:
        if a.element == b.element and _may_overlap(a, b):
            raise Refused(
                f"{a.name} is written here, and may overlap {b.name}",
                written.line,
                "declare pointers that do not overlap `restrict`, or say --no-alias",
            )
        return
    for here, there in zip(written.place.subscripts, also.place.subscripts, strict=True):
        if _is_undecided(here, there):
            raise Refused(
                f"{a.name} is written at {_said(written)} and used at {_said(also)}, which may be "
                "the same element",
                written.line,
                "give the numbers: --set NAME=VALUE",
            )


def _may_overlap(a: Variable, b: Variable) -> bool:
    """Whether two names can be of the same elements: one is a pointer, the other one, or global."""
    if a.is_restrict or b.is_restrict or not (a.may_overlap or b.may_overlap):
        return False
    return all(one.may_overlap or one.where == "global" for one in (a, b))


def _is_undecided(here: Polynomial, there: Polynomial) -> bool:
    """Whether it depends on unknown numbers if subscripts meet a few iterations apart.

    Those that move at a different pace meet once at most. Names alone tell rows apart.
    """
    if here.is_indirect or there.is_indirect:
        return here != there and not (here - there).constant
    if here.step() != there.step() or not here.step().terms:
        return False
    apart = here - there
    is_shifted = any(len(names) == 1 for names, _ in apart.terms)
    return is_shifted and apart.multiple_of(here.step()) is None


def _said(access: Access) -> str:
    return "".join(f"[{one}]" for one in access.place.subscripts).replace("#", "i")


def sources(found: Iterable[Stream]) -> dict[int, tuple[Node, int]]:
    """Of values that are read: who wrote them, and how many iterations before, by their ids."""
    known: dict[int, tuple[Node, int]] = {}
    for stream in found:
        if stream.is_indirect:
            continue
        for ahead, access in stream.members:
            if access.is_write or access.node is None or access.node.kind != "load":
                continue
            before = [
                (there - ahead if stream.moves else 1, one.node)
                for there, one in stream.writes()
                if one.node is not None and (there > ahead or not stream.moves)
            ]
            if before:
                distance = min(ago for ago, _ in before)
                known[id(access.node)] = [(node, ago) for ago, node in before if ago == distance][
                    -1
                ]
    return known
