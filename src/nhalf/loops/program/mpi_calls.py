"""Calls of MPI as events of a rank: who sends how many bytes to whom."""

import itertools
import math
from collections import Counter as Tally
from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.communicators import (
    NO_COMMUNICATOR,
    PROC_NULL,
    SELF,
    WORLD,
    Communicator,
    Communicators,
    balanced,
)
from nhalf.loops.program.events import COLLECTIVE, RECEIVED, SENT, Called, RankEvents, WaitedFor
from nhalf.loops.program.expression_values import ExpressionValues
from nhalf.loops.program.numbers import Number, NumberPlace, Unknown, combined
from nhalf.loops.program.structure import QUIET, RECEIVED_INTO, arguments, called
from nhalf.loops.source.refusal import RefusedSource, line_of, refused

NOBODY = -2
SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Isend", "MPI_Issend")
RECEIVES = ("MPI_Recv", "MPI_Irecv")
COUNTS = {
    "MPI_Bcast": (1, 2), "MPI_Reduce": (2, 3), "MPI_Allreduce": (2, 3), "MPI_Scan": (2, 3),
    "MPI_Exscan": (2, 3), "MPI_Reduce_scatter_block": (2, 3), "MPI_Gather": (1, 2),
    "MPI_Scatter": (1, 2), "MPI_Allgather": (1, 2), "MPI_Alltoall": (1, 2),
    "MPI_Gatherv": (1, 2), "MPI_Allgatherv": (1, 2), "MPI_Scatterv": (1, 3),
    "MPI_Alltoallv": (1, 3),
}  # fmt: skip
"""The places of the number of elements and of their type among the arguments."""
ROOTS = {
    "MPI_Bcast": 3, "MPI_Reduce": 5, "MPI_Gather": 6, "MPI_Scatter": 6, "MPI_Gatherv": 7,
    "MPI_Scatterv": 7,
}  # fmt: skip
TO_EACH = ("MPI_Alltoall", "MPI_Reduce_scatter_block")
"""A rank puts in as many elements for every rank."""

KNOWN = "known are messages to and from named ranks, Wait, Waitall and blocking operations"


class MpiCalls:
    """Adds what calls of MPI do to the events of a rank."""

    def __init__(
        self, values: ExpressionValues, rank: int, communicators: Communicators, own: RankEvents
    ) -> None:
        self._values, self._rank, self._communicators, self._own = values, rank, communicators, own
        self._turns: Tally[int] = Tally()
        self.under_way: set[int] = set()
        """The events that began and were not waited for."""

    def call(self, node: c_ast.FuncCall) -> Number:
        """Do a call; raises RefusedSource for one that is not understood."""
        name, values = called(node), arguments(node)
        if name in ("MPI_Comm_rank", "MPI_Comm_size"):
            own = self._communicator(node, values[0])
            is_rank = name == "MPI_Comm_rank"
            self._write(values[1], self._place_in(own) if is_rank else len(own.members))
        elif name in QUIET:
            self._quiet(node, name, values)
        elif name in SENDS or name in RECEIVES:
            self._message(node, name, values)
        elif name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            self._both_ways(node, name, values)
        elif name == "MPI_Barrier":
            self._operation(node, self._communicator(node, values[0]), NOBODY, 0)
        elif name in COUNTS:
            self._collective(node, name, values)
        elif name == "MPI_Wait":
            self._wait(node, name, [self._place(node, values[0])])
        elif name == "MPI_Waitall":
            first = self._place(node, values[1])
            count = self._whole(node, values[0], "how many requests it waits for")
            self._wait(node, name, [first.moved(at) for at in range(count)])
        else:
            raise refused(node, f"{name} is not understood", KNOWN)
        if name in RECEIVED_INTO:
            self._receive_into(values[RECEIVED_INTO[name]], Unknown(name))
        return 0

    def _receive_into(self, buffer: Any, number: Unknown) -> None:
        place = self._values.value(buffer)
        if isinstance(place, NumberPlace) and place.index:
            place.frame.elements.pop(place.name, None)
        else:
            self._write(buffer, number)

    def _quiet(self, node: Any, name: str, values: Sequence[Any]) -> None:
        """Calls that send nothing: those that make types, communicators and grids, and others,
        which leave what they write unknown.
        """
        if name.startswith("MPI_Type_") and len(values) > 1:
            self._write(values[1 if name == "MPI_Type_size" else -1], self._type(name, values))
        elif name in ("MPI_Type_commit", "MPI_Type_free"):
            return
        elif name in ("MPI_Comm_split", "MPI_Comm_dup", "MPI_Cart_create", "MPI_Cart_sub"):
            created = self._made(node, name, values)
            self._write(values[-1], created.number if created else NO_COMMUNICATOR)
        elif name in ("MPI_Dims_create", "MPI_Cart_shift", "MPI_Cart_coords", "MPI_Cart_rank"):
            self._grid(node, name, values)
        else:
            for argument in values:
                if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                    self._write(argument, Unknown(name))

    def _type(self, name: str, values: Sequence[Any]) -> Number:
        """The size of a type, which stands for it."""
        if name in ("MPI_Type_contiguous", "MPI_Type_vector", "MPI_Type_create_hvector"):
            counts = values[: 1 if name == "MPI_Type_contiguous" else 2]
            size = self._values.value(values[-2])
            for count in counts:
                size = combined("*", size, self._values.value(count))
            return size
        if name == "MPI_Type_create_subarray":
            size, first = self._values.value(values[5]), self._values.value(values[2])
            count = self._values.value(values[0])
            if not isinstance(first, NumberPlace) or not isinstance(count, int):
                return Unknown("the extents of the type")
            for at in range(count):
                size = combined("*", size, first.moved(at).read())
            return size
        return self._values.value(values[0])

    def _made(self, node: Any, name: str, values: Sequence[Any]) -> Communicator | None:
        """What a call makes of a communicator; None for a rank that is not in it."""
        parent = self._communicator(node, values[0])
        self._turns[parent.number] += 1
        turn, communicators = self._turns[parent.number], self._communicators
        place = self._place_in(parent)
        if name == "MPI_Comm_split":
            colour = self._whole(node, values[1], "the colour")
            key = self._whole(node, values[2], "the key")
            part = communicators.part(parent, turn, self._rank, colour, key)
            return part if colour >= 0 else None
        if name == "MPI_Comm_dup":
            return communicators.made(
                (parent.number, turn), parent.members, parent.extents, parent.periods
            )
        if name == "MPI_Cart_create":
            count = self._whole(node, values[1], "the number of dimensions")
            extents, periods = (self._numbers(node, values[at], count) for at in (2, 3))
            size = math.prod(extents)
            if not 0 < size <= len(parent.members):
                raise refused(node, f"a grid of {size} ranks has no room among those there are")
            members = parent.members[:size]
            grid = communicators.made((parent.number, turn), members, extents, periods)
            return grid if place < size else None
        stays = self._numbers(node, values[1], len(parent.extents))

        def line_of_rank(at: int) -> list[int]:
            free = zip(stays, parent.coordinates(at), strict=True)
            return [-1 if is_free else own_at for is_free, own_at in free]

        alike = [
            member
            for at, member in enumerate(parent.members)
            if line_of_rank(at) == line_of_rank(place)
        ]
        extents, periods = (
            list(itertools.compress(all_of, stays)) for all_of in (parent.extents, parent.periods)
        )
        return communicators.made((parent.number, turn, *alike[:1]), alike, extents, periods)

    def _grid(self, node: Any, name: str, values: Sequence[Any]) -> None:
        """Calls that ask for a place in a grid."""
        if name == "MPI_Dims_create":
            ranks, count = (self._whole(node, values[at], "the grid") for at in (0, 1))
            extents = balanced(ranks, self._numbers(node, values[2], count))
            for at, extent in enumerate(extents):
                self._element(node, values[2], at).write(extent)
            return
        grid = self._communicator(node, values[0])
        if not grid.extents:
            raise refused(node, f"{name} is on a communicator without a grid")
        if name == "MPI_Cart_shift":
            direction, by = (self._whole(node, values[at], "the shift") for at in (1, 2))
            place = self._place_in(grid)
            self._write(values[3], grid.shifted(place, direction, -by))
            self._write(values[4], grid.shifted(place, direction, by))
        elif name == "MPI_Cart_coords":
            place = self._whole(node, values[1], "the rank")
            for at, own in enumerate(grid.coordinates(place)):
                self._element(node, values[3], at).write(own)
        else:
            place = grid.place_at(self._numbers(node, values[1], len(grid.extents)))
            self._write(values[2], place)

    def _element(self, node: Any, array: Any, at: int) -> NumberPlace:
        first = self._values.value(array)
        if not isinstance(first, NumberPlace) or not first.index:
            raise refused(node, f"an array of {called(node)} is not known")
        return first.moved(at)

    def _numbers(self, node: Any, array: Any, count: int) -> list[int]:
        numbers = [self._element(node, array, at).read() for at in range(count)]
        for number in numbers:
            if not isinstance(number, int):
                raise unknown_number(node, f"an element in {called(node)}", number)
        return [number for number in numbers if isinstance(number, int)]

    def _write(self, argument: Any, number: Number) -> None:
        self._values.write(c_ast.UnaryOp("*", argument), number)

    def _add(self, event: Called) -> int:
        self._own.events.append(event)
        return len(self._own.events) - 1

    def _whole(self, node: Any, argument: Any, meaning: str) -> int:
        number = self._values.value(argument)
        if isinstance(number, int):
            return number
        raise unknown_number(node, f"{meaning} in {called(node)}", number)

    def _place(self, node: Any, argument: Any) -> NumberPlace:
        place = self._values.value(argument)
        if not isinstance(place, NumberPlace):
            raise refused(node, f"which request {called(node)} waits for is not known")
        return place

    def _communicator(self, node: Any, argument: Any) -> Communicator:
        number = self._whole(node, argument, "the communicator")
        if number == SELF:
            return Communicator(SELF, (self._rank,))
        if number not in self._communicators.by_number:
            raise refused(
                node,
                f"the communicator of {called(node)} is not known",
                "known are MPI_COMM_WORLD and what MPI_Comm_split, MPI_Comm_dup, MPI_Cart_create "
                "and MPI_Cart_sub make of it",
            )
        return self._communicators.by_number[number]

    def _place_in(self, own: Communicator) -> int:
        return own.members.index(self._rank)

    def _bytes(self, node: Any, count: Any, kind: Any) -> int:
        elements = self._whole(node, count, "the number of elements")
        size = elements * self._whole(node, kind, "the size of the type of data")
        if elements < 0:
            raise refused(node, f"{called(node)} has {elements} elements on rank {self._rank}")
        return size

    def _partner(self, node: Any, argument: Any, own: Communicator, is_receive: bool) -> int:
        """The other end among the ranks of MPI_COMM_WORLD."""
        partner = self._whole(node, argument, "the other rank")
        if partner == -1 and is_receive:
            raise refused(
                node, "a receive from any rank takes a message that the source does not name"
            )
        if partner == PROC_NULL:
            return PROC_NULL
        ranks = len(own.members)
        if not 0 <= partner < ranks:
            raise refused(
                node, f"rank {self._place_in(own)} of {ranks} has a message with rank {partner}"
            )
        return own.members[partner]

    def _tag(self, node: Any, argument: Any) -> int:
        tag = self._whole(node, argument, "the tag")
        if tag < 0:
            raise refused(
                node, "a receive of any tag takes a message that the source does not name"
            )
        return tag

    def _message(self, node: Any, name: str, values: Sequence[Any]) -> None:
        kind = RECEIVED if name in RECEIVES else SENT
        own = self._communicator(node, values[5])
        partner = self._partner(node, values[3], own, kind == RECEIVED)
        begins = name.startswith("MPI_I")
        request = self._place(node, values[6]) if begins else None
        if partner == PROC_NULL:
            if request is not None:
                request.write(-1)
            return
        size, tag = self._bytes(node, values[1], values[2]), self._tag(node, values[4])
        event = Called(
            name, line_of(node), kind, partner, tag, size, begins, communicator=own.number
        )
        place = self._add(event)
        if request is not None:
            self.under_way.add(place)
            request.write(place)

    def _both_ways(self, node: Any, name: str, values: Sequence[Any]) -> None:
        if name == "MPI_Sendrecv":
            _, count, kind, target, tag, _, *back, world = values[:11]
            back_count, back_kind, source, back_tag = back
        else:
            _, count, kind, target, tag, source, back_tag, world = values[:8]
            back_count, back_kind = count, kind
        own = self._communicator(node, world)
        to, by = self._partner(node, target, own, False), self._partner(node, source, own, True)
        has_both = PROC_NULL not in (to, by)
        line = line_of(node)
        if to != PROC_NULL:
            size, number = self._bytes(node, count, kind), self._tag(node, tag)
            call = name if has_both else "MPI_Send"
            self._add(Called(call, line, SENT, to, number, size, with_next=has_both, written=name,
                             communicator=own.number))  # fmt: skip
        if by != PROC_NULL:
            size, number = self._bytes(node, back_count, back_kind), self._tag(node, back_tag)
            call = name if has_both else "MPI_Recv"
            self._add(Called(call, line, RECEIVED, by, number, size, written=name,
                             communicator=own.number))  # fmt: skip

    def _collective(self, node: Any, name: str, values: Sequence[Any]) -> None:
        count, kind = COUNTS[name]
        own = self._communicator(node, values[-1])
        ranks, root = len(own.members), NOBODY
        is_root = False
        if name in ROOTS:
            place = self._whole(node, values[ROOTS[name]], "the root")
            if not 0 <= place < ranks:
                raise refused(node, f"{name} has root {place} of {ranks} ranks")
            root = own.members[place]
            is_root = root == self._rank
        if name.startswith("MPI_Scatter") and not is_root:
            count, kind = 4 + (name == "MPI_Scatterv"), 5 + (name == "MPI_Scatterv")
        elif name in ("MPI_Scatterv", "MPI_Alltoallv"):
            size = self._varying_bytes(node, values[count], values[kind], ranks)
            self._operation(node, own, root, size)
            return
        size = self._bytes(node, values[count], values[kind])
        if name in TO_EACH or (name == "MPI_Scatter" and is_root):
            size *= ranks
        self._operation(node, own, root, size)

    def _operation(self, node: Any, own: Communicator, root: int, size: int) -> None:
        """Add an operation, which with one rank moves nothing."""
        if len(own.members) > 1 or own.number == WORLD:
            self._add(
                Called(called(node), line_of(node), COLLECTIVE, root, 0, size,
                       communicator=own.number)
            )  # fmt: skip

    def _varying_bytes(self, node: Any, counts: Any, kind: Any, ranks: int) -> int:
        first, size = self._values.value(counts), self._whole(node, kind, "the type of data")
        elements = 0
        for rank in range(ranks):
            count: Number = first.moved(rank).read() if isinstance(first, NumberPlace) else first
            if not isinstance(count, int):
                raise unknown_number(node, f"the count for rank {rank} in {called(node)}", count)
            elements += count
        return elements * size

    def _wait(self, node: Any, name: str, requests: Sequence[NumberPlace]) -> None:
        now = len(self._own.events)
        begun = []
        for request in requests:
            place = request.read()
            if not isinstance(place, int):
                raise refused(node, f"which call {name} waits for is not known")
            if place >= 0:
                begun.append(now - place)
                self.under_way.discard(place)
            request.write(-1)
        if begun:
            self._own.events.append(WaitedFor(name, line_of(node), tuple(begun)))


def unknown_number(node: Any, meaning: str, number: Number) -> RefusedSource:
    """A refusal of a number that is not known, and how to give it."""
    name = number.name if isinstance(number, Unknown) else ""
    remedy = f"give it: --set {name}=1000" if name.isidentifier() else ""
    return refused(node, f"{meaning} depends on {name or 'an address'}, which is not known", remedy)
