"""Self-consistent performance guidelines: what an operation can be made of, and may not exceed.

An operation that takes longer than other operations of the same library which do its work (its
mock-up) gains by being replaced by them: J. L. Träff, W. Gropp, R. Thakur, Self-consistent MPI
performance requirements, IEEE TPDS 21(5), 2010; S. Hunold, A. Carpen-Amarie, Tuning MPI collectives
by verifying performance guidelines, HPC Asia 2018. Sizes are nhalf's: of the message (bcast), the
vector (reduce, allreduce, reduce-scatter, scan) or one block (all others).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Size = Callable[[int, int], int]
"""The size of a part in bytes, from that of the operation and the number of ranks."""


@dataclass(frozen=True)
class MockUpCall:
    """An operation of a mock-up: the least size of its messages, and how often it is called."""

    pattern: str
    size_bytes: Size
    calls: int = 1


@dataclass(frozen=True)
class MockUp:
    """What does the work of an operation; `algorithms` of libraries that do the same, by name.

    These are candidates where a library violates the guideline, across all libraries.
    """

    operation: str
    parts: tuple[MockUpCall, ...]
    algorithms: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its parts as a sum: 'reduce + bcast'."""
        return " + ".join(part.pattern for part in self.parts)


def _same(size_bytes: int, ranks: int) -> int:
    del ranks
    return size_bytes


def _block(size_bytes: int, ranks: int) -> int:
    return -(-size_bytes // ranks)


def _all_blocks(size_bytes: int, ranks: int) -> int:
    return size_bytes * ranks


MOCK_UPS = (
    MockUp("allreduce", (MockUpCall("reduce", _same), MockUpCall("bcast", _same)),
           ("reduce-bcast", "nonoverlapping")),
    MockUp("allreduce", (MockUpCall("reduce-scatter", _same), MockUpCall("allgather", _block)),
           ("rabenseifner", "reduce_scatter_allgather", "ring")),
    MockUp("reduce", (MockUpCall("allreduce", _same),)),
    MockUp("reduce", (MockUpCall("reduce-scatter", _same), MockUpCall("gather", _block)),
           ("rabenseifner", "reduce_scatter_gather")),
    MockUp("reduce-scatter", (MockUpCall("allreduce", _same),)),
    MockUp("reduce-scatter", (MockUpCall("reduce", _same), MockUpCall("scatter", _block)),
           ("basic_linear",)),
    MockUp("bcast", (MockUpCall("scatter", _block), MockUpCall("allgather", _block)),
           ("scatter-allgather", "scatter_allgather", "scatter_allgather_ring",
            "scatter_recursive_doubling_allgather", "scatter_ring_allgather")),
    MockUp("scatter", (MockUpCall("bcast", _all_blocks),)),
    MockUp("gather", (MockUpCall("allgather", _same),)),
    MockUp("allgather", (MockUpCall("gather", _same), MockUpCall("bcast", _all_blocks)),
           ("linear",)),
    MockUp("allgather", (MockUpCall("alltoall", _same),)),
    MockUp("barrier", (MockUpCall("allreduce", _same),)),
    *(
        MockUp(regular, (MockUpCall(irregular, _same),))
        for regular, irregular in (
            ("gather", "gatherv"), ("scatter", "scatterv"), ("allgather", "allgatherv"),
            ("alltoall", "alltoallv"), ("alltoallv", "alltoallw"),
            ("reduce-scatter", "reduce-scatterv"),
        )
    ),
)  # fmt: skip
"""The mock-ups by other operations; those with counts per rank have equal ones."""


def longer(operation: str, next_bytes: int) -> MockUp:
    """The operation itself with a longer message: times may not fall with the size."""
    return MockUp(operation, (MockUpCall(operation, lambda *_: next_bytes),))


def pieces(operation: str, piece_bytes: int, calls: int) -> MockUp:
    """The operation itself several times, each with a piece of the message."""
    return MockUp(operation, (MockUpCall(operation, lambda *_: piece_bytes, calls),), SEGMENTED)


SEGMENTED = ("pipeline", "segmented_ring", "chain", "binomial-pipelined", "binary-pipelined",
             "pipelined_tree")  # fmt: skip
"""Algorithms that cut messages."""
