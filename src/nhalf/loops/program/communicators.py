"""The communicators of a program: whose ranks they have, as all ranks agree on them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WORLD, SELF, NO_COMMUNICATOR = 0, 1, -1
"""Handles of mpi.h."""
PROC_NULL = -2


class NotSplitYet(Exception):
    """Other ranks have to say their colours first."""


@dataclass(frozen=True)
class Communicator:
    """Its number, which is its handle, and the ranks of MPI_COMM_WORLD in it, in its order.

    `extents` are those of its grid, if it has one, and `periods` whether each goes around.
    """

    number: int
    members: tuple[int, ...]
    extents: tuple[int, ...] = ()
    periods: tuple[int, ...] = ()

    def coordinates(self, place: int) -> list[int]:
        """Where a rank is in the grid, the last one running fastest."""
        at = list[int]()
        for extent in reversed(self.extents):
            at.append(place % extent)
            place //= extent
        return at[::-1]

    def place_at(self, coordinates: Sequence[int]) -> int:
        """The rank at coordinates; PROC_NULL beyond an end."""
        place = 0
        for at, extent, goes_around in zip(coordinates, self.extents, self.periods, strict=True):
            if not goes_around and not 0 <= at < extent:
                return PROC_NULL
            place = place * extent + at % extent
        return place

    def shifted(self, place: int, direction: int, by: int) -> int:
        """The rank so far away in one direction."""
        at = self.coordinates(place)
        at[direction] += by
        return self.place_at(at)


@dataclass
class Communicators:
    """All communicators of a program. Ranks make one of another in the same order, so that it is
    known by that one, the place in that order, and, of parts, their colour.
    """

    ranks: int
    by_number: dict[int, Communicator] = field(default_factory=dict)
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    _colours: dict[tuple[int, int], dict[int, tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_number[WORLD] = Communicator(WORLD, tuple(range(self.ranks)))

    @property
    def colours_known(self) -> int:
        """How many colours ranks have given to MPI_Comm_split."""
        return sum(map(len, self._colours.values()))

    def made(
        self,
        key: tuple[int, ...],
        members: Iterable[int],
        extents: Sequence[int] = (),
        periods: Sequence[int] = (),
    ) -> Communicator:
        """The communicator of a key."""
        number = self._numbers.setdefault(key, len(self._numbers) + SELF + 1)
        own = Communicator(number, tuple(members), tuple(extents), tuple(periods))
        return self.by_number.setdefault(number, own)

    def part(
        self, parent: Communicator, turn: int, rank: int, colour: int, key: int
    ) -> Communicator:
        """The part of a rank of MPI_COMM_WORLD; raises NotSplitYet."""
        colours = self._colours.setdefault((parent.number, turn), {})
        colours[rank] = colour, key
        if len(colours) < len(parent.members):
            raise NotSplitYet
        order = {member: (colours[member][1], at) for at, member in enumerate(parent.members)}
        own = [member for member in parent.members if colours[member][0] == colour]
        return self.made((parent.number, turn, colour), sorted(own, key=order.__getitem__))


def balanced(ranks: int, extents: Sequence[int]) -> list[int]:
    """The extents of a grid of ranks: those that are 0 as equal as can be, the largest first, as
    MPI_Dims_create has them.
    """
    free_ranks = ranks // max(1, math.prod(extent for extent in extents if extent))
    free = sum(not extent for extent in extents)
    chosen = list[int]()
    for count in range(free, 0, -1):
        fits = [
            own
            for own in range(1, free_ranks + 1)
            if free_ranks % own == 0 and own**count >= free_ranks
        ]
        chosen.append(fits[0])
        free_ranks //= fits[0]
    own = iter(sorted(chosen, reverse=True))
    return [extent or next(own) for extent in extents]
