"""The collective operations of MPI: what each moves, and between whom.

`native/calls/operations.inc` says the same of its calls; a test holds both together.
"""

from dataclasses import dataclass
from typing import Literal

Flow = Literal["from_root", "to_root", "among_all", "up_to_each", "among_neighbours"]
"""Between whom data goes; `up_to_each` is from each rank to all that come after it."""
Data = Literal["nothing", "vector", "sum", "block", "blocks", "summed_blocks"]
"""What a rank puts in, or gets if it puts in nothing: a vector for all, or its sum with those of
others; a block, or one for each rank."""


@dataclass(frozen=True)
class Operation:
    """A collective operation by the name of its blocking call, in lower case."""

    name: str
    pattern: str
    """Its pattern; '' if nhalf does not measure it."""
    flow: Flow
    data: Data
    like: str = ""
    """The pattern with blocks of one size that takes about as long; '' for `pattern`."""
    is_varying: bool = False
    """Whether blocks differ in size."""
    is_native: bool = False
    """Whether the only algorithms for it are the library's own."""

    @property
    def is_rooted(self) -> bool:
        """Whether one rank has what all others get, or gets what they have."""
        return self.flow in ("from_root", "to_root")

    @property
    def has_blocks(self) -> bool:
        """Whether data of each rank stays apart from that of others."""
        return self.data in ("block", "blocks")


def _neighbours(name: str, data: Data, is_varying: bool = False) -> Operation:
    pattern = f"neighbor-{name}"
    return Operation(f"neighbor_{name}", pattern, "among_neighbours", data, "", is_varying, True)


TABLE = (
    Operation("bcast", "bcast", "from_root", "vector"),
    Operation("scatter", "scatter", "from_root", "blocks"),
    Operation("gather", "gather", "to_root", "block"),
    Operation("allgather", "allgather", "among_all", "block"),
    Operation("alltoall", "alltoall", "among_all", "blocks"),
    Operation("alltoallv", "alltoallv", "among_all", "blocks", "alltoall", True),
    Operation("reduce", "reduce", "to_root", "sum"),
    Operation("allreduce", "allreduce", "among_all", "sum"),
    Operation("reduce_scatter_block", "reduce-scatter", "among_all", "summed_blocks"),
    Operation("scan", "scan", "up_to_each", "sum"),
    Operation("exscan", "", "up_to_each", "sum", "scan"),
    Operation("barrier", "barrier", "among_all", "nothing"),
    Operation("gatherv", "gatherv", "to_root", "block", "gather", True, True),
    Operation("scatterv", "scatterv", "from_root", "blocks", "scatter", True, True),
    Operation("allgatherv", "allgatherv", "among_all", "block", "allgather", True, True),
    Operation("alltoallw", "alltoallw", "among_all", "blocks", "alltoall", True, True),
    Operation(
        *("reduce_scatter", "reduce-scatterv", "among_all", "summed_blocks"),
        *("reduce-scatter", True, True),
    ),
    _neighbours("allgather", "block"),
    _neighbours("allgatherv", "block", True),
    _neighbours("alltoall", "blocks"),
    _neighbours("alltoallv", "blocks", True),
    _neighbours("alltoallw", "blocks", True),
)
BY_NAME = {operation.name: operation for operation in TABLE}
_MEASURED = tuple(operation for operation in TABLE if operation.pattern)

COLLECTIVES = tuple(operation.pattern for operation in _MEASURED)
"""The pattern of every blocking operation."""
OPERATIONS = tuple(operation.pattern for operation in _MEASURED if not operation.is_native)
"""Operations that nhalf has algorithms for."""
PER_RANK = tuple(o.pattern for o in _MEASURED if o.has_blocks and not (o.is_varying or o.is_native))
"""Operations in which each rank has blocks of one size for others, or gets them."""
CALLS = {o.pattern: o.name for o in _MEASURED if not o.is_native and o.name != o.pattern}
"""Names of operations in libraries, if they differ from those of their patterns."""


def has_root(pattern: str) -> bool:
    """Whether a pattern is an operation in which one rank has what all others get, or gets it."""
    return any(row.pattern == pattern and row.is_rooted for row in TABLE)


NATIVE = "native"
"""The value of the column `algorithm` if the library chooses the algorithm itself."""

NON_BLOCKING = tuple(f"i{name}" for name in COLLECTIVES)
PERSISTENT = tuple(f"{name}-persistent" for name in COLLECTIVES)
OVERLAPPING = (*NON_BLOCKING, *PERSISTENT)
"""Nonblocking operations: started and completed, with or without work in between."""
