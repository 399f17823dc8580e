"""Calls of MPI as events of a rank: who sends how many bytes to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.events import COLLECTIVE, RECEIVED, SENT, Called, RankEvents, WaitedFor
from nhalf.loops.program.expression_values import ExpressionValues
from nhalf.loops.program.numbers import Number, NumberPlace, Unknown
from nhalf.loops.program.structure import QUIET, RECEIVED_INTO, arguments, called
from nhalf.loops.source.refusal import RefusedSource, line_of, refused

PROC_NULL, NOBODY = -2, -2
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

    def __init__(self, values: ExpressionValues, rank: int, ranks: int, own: RankEvents) -> None:
        self._values, self._rank, self._ranks, self._own = values, rank, ranks, own
        self.under_way: set[int] = set()
        """The events that began and were not waited for."""

    def call(self, node: c_ast.FuncCall) -> Number:
        """Do a call; raises RefusedSource for one that is not understood."""
        name, values = called(node), arguments(node)
        if name in ("MPI_Comm_rank", "MPI_Comm_size"):
            self._check_world(node, values[0])
            number = self._rank if name == "MPI_Comm_rank" else self._ranks
            self._write(values[1], number)
        elif name in QUIET:
            self._quiet(name, values)
        elif name in SENDS or name in RECEIVES:
            self._message(node, name, values)
        elif name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            self._both_ways(node, name, values)
        elif name == "MPI_Barrier":
            self._check_world(node, values[0])
            self._add(Called(name, line_of(node), COLLECTIVE, NOBODY, 0, 0))
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

    def _quiet(self, name: str, values: Sequence[Any]) -> None:
        """Calls that send nothing leave what they write unknown, and all goes well."""
        if name == "MPI_Type_size":
            self._write(values[1], self._values.value(values[0]))
            return
        for argument in values:
            if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                self._write(argument, Unknown(name))

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

    def _check_world(self, node: Any, argument: Any) -> None:
        if self._whole(node, argument, "the communicator") != 0:
            raise refused(
                node,
                f"{called(node)} is not on MPI_COMM_WORLD",
                "only its ranks and MPI_COMM_WORLD itself are known",
            )

    def _bytes(self, node: Any, count: Any, kind: Any) -> int:
        elements = self._whole(node, count, "the number of elements")
        size = elements * self._whole(node, kind, "the size of the type of data")
        if elements < 0:
            raise refused(node, f"{called(node)} has {elements} elements on rank {self._rank}")
        return size

    def _partner(self, node: Any, argument: Any, is_receive: bool) -> int:
        partner = self._whole(node, argument, "the other rank")
        if partner == -1 and is_receive:
            raise refused(
                node, "a receive from any rank takes a message that the source does not name"
            )
        if partner != PROC_NULL and not 0 <= partner < self._ranks:
            raise refused(
                node, f"rank {self._rank} of {self._ranks} has a message with rank {partner}"
            )
        return partner

    def _tag(self, node: Any, argument: Any) -> int:
        tag = self._whole(node, argument, "the tag")
        if tag < 0:
            raise refused(
                node, "a receive of any tag takes a message that the source does not name"
            )
        return tag

    def _message(self, node: Any, name: str, values: Sequence[Any]) -> None:
        kind = RECEIVED if name in RECEIVES else SENT
        self._check_world(node, values[5])
        partner = self._partner(node, values[3], kind == RECEIVED)
        begins = name.startswith("MPI_I")
        request = self._place(node, values[6]) if begins else None
        if partner == PROC_NULL:
            if request is not None:
                request.write(-1)
            return
        size, tag = self._bytes(node, values[1], values[2]), self._tag(node, values[4])
        place = self._add(Called(name, line_of(node), kind, partner, tag, size, begins))
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
        self._check_world(node, world)
        to, by = self._partner(node, target, False), self._partner(node, source, True)
        has_both = PROC_NULL not in (to, by)
        line = line_of(node)
        if to != PROC_NULL:
            size, number = self._bytes(node, count, kind), self._tag(node, tag)
            call = name if has_both else "MPI_Send"
            self._add(Called(call, line, SENT, to, number, size, with_next=has_both, written=name))
        if by != PROC_NULL:
            size, number = self._bytes(node, back_count, back_kind), self._tag(node, back_tag)
            call = name if has_both else "MPI_Recv"
            self._add(Called(call, line, RECEIVED, by, number, size, written=name))

    def _collective(self, node: Any, name: str, values: Sequence[Any]) -> None:
        count, kind = COUNTS[name]
        self._check_world(node, values[-1])
        root = NOBODY
        if name in ROOTS:
            root = self._whole(node, values[ROOTS[name]], "the root")
            if not 0 <= root < self._ranks:
                raise refused(node, f"{name} has root {root} of {self._ranks} ranks")
        if name.startswith("MPI_Scatter") and root != self._rank:
            count, kind = 4 + (name == "MPI_Scatterv"), 5 + (name == "MPI_Scatterv")
        elif name in ("MPI_Scatterv", "MPI_Alltoallv"):
            size = self._varying_bytes(node, values[count], values[kind])
            self._add(Called(name, line_of(node), COLLECTIVE, root, 0, size))
            return
        size = self._bytes(node, values[count], values[kind])
        if name in TO_EACH or (name == "MPI_Scatter" and root == self._rank):
            size *= self._ranks
        self._add(Called(name, line_of(node), COLLECTIVE, root, 0, size))

    def _varying_bytes(self, node: Any, counts: Any, kind: Any) -> int:
        """The bytes of one count for each rank."""
        first, size = self._values.value(counts), self._whole(node, kind, "the type of data")
        elements = 0
        for rank in range(self._ranks):
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
