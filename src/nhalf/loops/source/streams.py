"""Streams: elements that successive iterations access, so that each is loaded and stored once.

How far iterations reach decides what meets: `a[i*n + j]` and `a[(i-1)*n + j]` do not, over j.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from nhalf.loops.source.polynomial import Polynomial, integer
from nhalf.loops.source.refusal import RefusedSource
from nhalf.loops.source.values import Access, ValueNode
from nhalf.loops.source.variables import Variable

ROWS_MAX = 16
"""Distances of at most this many rows are tried."""


@dataclass(frozen=True)
class IterationBound:
    """The count of iterations is at most `extent` / `stride`; without an extent it is unknown."""

    extent: Polynomial | None = None
    stride: int = 1

    def is_beyond(self, distance: Polynomial, step: Polynomial) -> bool:
        """Whether elements so far apart are never accessed by two iterations of the loop.

        Where the extent has names in it, it is taken as at least 0, since the loop runs.
        """
        step_size = step.constant
        if self.extent is None or not step_size:
            return False
        row = self.extent * integer(abs(step_size))
        scaled = distance * integer(self.stride)
        if row.constant is not None:
            return scaled.constant is not None and abs(scaled.constant) >= row.constant
        return any(
            _is_no_less(candidate, row * integer(count))
            for candidate in (scaled, -scaled)
            for count in range(1, ROWS_MAX)
        )


def _is_no_less(first: Polynomial, second: Polynomial) -> bool:
    least = (first - second).constant
    return least is not None and least >= 0


Steps = tuple[Polynomial, ...]


@dataclass
class Stream:
    """Accesses to the same elements, each with the number of iterations by which it is ahead."""

    steps: Steps
    members: list[tuple[int, Access]] = field(default_factory=list)

    @property
    def array(self) -> Variable:
        """The array that is accessed."""
        return self.members[0][1].array

    @property
    def moves(self) -> bool:
        """Whether each iteration accesses another element."""
        return any(step.terms for step in self.steps) or self.is_indirect

    @property
    def outer_names(self) -> set[str]:
        """The names on which it depends where it begins, as the number of a row."""
        place = self.members[0][1].place
        return set[str]().union(*(subscript.start().names for subscript in place.subscripts))

    @property
    def is_indirect(self) -> bool:
        """Whether its subscripts are data."""
        return any(subscript.is_indirect for subscript in self.members[0][1].place.subscripts)

    @property
    def in_order(self) -> list[tuple[int, Access]]:
        """Unguarded accesses in the order in which they come to an element."""
        unguarded = [(ahead, access) for ahead, access in self.members if not access.guarded]
        return sorted(unguarded, key=lambda pair: -pair[0])

    @property
    def loads(self) -> int:
        """1 if an element is read before it is written.

        An element whose subscript an iteration may leave unchanged, such as that of a minimum,
        needs no load.
        """
        first = self.in_order[:1]
        may_stay_unchanged = any(
            subscript.may_stay_unchanged for subscript in self.members[0][1].place.subscripts
        )
        return int(
            self.moves and bool(first) and not first[0][1].is_write and not may_stay_unchanged
        )

    @property
    def stores(self) -> int:
        """1 if an element is written."""
        return int(self.moves and any(access.is_write for _, access in self.in_order))

    def writes(self) -> list[tuple[int, Access]]:
        """Accesses that write."""
        return [(ahead, access) for ahead, access in self.members if access.is_write]


def streams(accesses: Iterable[Access], reach: IterationBound | None = None) -> list[Stream]:
    """Group the accesses of an iteration into streams; raises RefusedSource if that is undecidable.

    Accesses that no two iterations of the loop bring together are different streams.
    """
    reach = reach or IterationBound()
    all_accesses = list(accesses)
    _check_overlaps(all_accesses, reach)
    loop_streams: list[Stream] = []
    for access in all_accesses:
        steps = tuple(
            Polynomial() if subscript.is_indirect else subscript.step()
            for subscript in access.place.subscripts
        )
        for stream in loop_streams:
            ahead = _ahead(stream, access, steps, reach)
            if ahead is not None:
                stream.members.append((ahead, access))
                break
        else:
            loop_streams.append(Stream(steps, [(0, access)]))
    return loop_streams


def _ahead(stream: Stream, access: Access, steps: Steps, reach: IterationBound) -> int | None:
    """Iterations by which an access is ahead of the first of a stream; None if not in it."""
    first = stream.members[0][1]
    if first.place.base != access.place.base or stream.steps != steps:
        return None
    pairs = zip(access.place.subscripts, first.place.subscripts, steps, strict=True)
    ahead: int | None = None
    for subscript, first_subscript, step in pairs:
        if subscript.is_indirect or first_subscript.is_indirect or not step.terms:
            if subscript != first_subscript:
                return None
            continue
        distance = subscript - first_subscript
        iterations = distance.multiple_of(step)
        if iterations is None or reach.is_beyond(distance, step) or ahead not in {None, iterations}:
            return None
        ahead = iterations
    return ahead or 0


def _check_overlaps(accesses: list[Access], reach: IterationBound) -> None:
    """Raise RefusedSource if two accesses may be to the same element, and one of them writes."""
    distinct: dict[str, Access] = {}
    for access in accesses:
        key = f"{access.is_write} {access.place.key}"
        distinct.setdefault(key, access)
    for first, second in combinations(distinct.values(), 2):
        if first.is_write or second.is_write:
            _check_pair(first, second, reach)


def _check_pair(first: Access, second: Access, reach: IterationBound) -> None:
    written, used = (first, second) if first.is_write else (second, first)
    written_array, used_array = written.array, used.array
    if written_array.name != used_array.name:
        if written_array.element == used_array.element and _may_overlap(written_array, used_array):
            raise RefusedSource(
                f"{written_array.name} is written here, and may overlap {used_array.name}",
                written.line,
                "declare pointers that do not overlap `restrict`, or say --no-alias",
            )
        return
    for written_subscript, used_subscript in zip(
        written.place.subscripts, used.place.subscripts, strict=True
    ):
        if _is_undecided(written_subscript, used_subscript, reach):
            raise RefusedSource(
                f"{written_array.name} is written at {_subscripts_text(written)} and used at "
                f"{_subscripts_text(used)}, which may be the same element",
                written.line,
                "give the numbers: --set NAME=VALUE",
            )


def _may_overlap(first: Variable, second: Variable) -> bool:
    """Whether two arrays may share elements: a pointer, and a pointer or a global array."""
    if first.is_restrict or second.is_restrict or not (first.may_overlap or second.may_overlap):
        return False
    return all(array.may_overlap or array.where == "global" for array in (first, second))


def _is_undecided(first: Polynomial, second: Polynomial, reach: IterationBound) -> bool:
    """Whether it depends on unknown integers if subscripts are equal a few iterations apart.

    Subscripts with different strides are equal at most once. Different names mean different rows.
    """
    if first.is_indirect or second.is_indirect:
        return first != second and not (first - second).constant
    if first.step() != second.step() or not first.step().terms:
        return False
    distance = first - second
    is_shifted = any(len(names) == 1 for names, _ in distance.terms)
    return (
        is_shifted
        and distance.multiple_of(first.step()) is None
        and not reach.is_beyond(distance, first.step())
    )


def _subscripts_text(access: Access) -> str:
    return "".join(f"[{subscript}]" for subscript in access.place.subscripts).replace("#", "i")


def sources(loop_streams: Iterable[Stream]) -> dict[int, tuple[ValueNode, int]]:
    """Writers of values that are read, by id: the node written, and how many iterations before."""
    sources_by_node: dict[int, tuple[ValueNode, int]] = {}
    for stream in loop_streams:
        if stream.is_indirect:
            continue
        for ahead, access in stream.members:
            if access.is_write or access.node is None or access.node.kind != "load":
                continue
            writers = [
                (write_ahead - ahead if stream.moves else 1, write.node)
                for write_ahead, write in stream.writes()
                if write.node is not None and (write_ahead > ahead or not stream.moves)
            ]
            if writers:
                distance = min(ago for ago, _ in writers)
                sources_by_node[id(access.node)] = [
                    (node, ago) for ago, node in writers if ago == distance
                ][-1]
    return sources_by_node
