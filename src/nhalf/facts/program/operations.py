"""The collective operation behind a call, in any of its variants."""

from __future__ import annotations

import functools

from nhalf.base.operations import BY_NAME, TABLE

FROM_ROOT = tuple(o.name for o in TABLE if o.flow == "from_root")
"""Only the root is waited for."""
SCATTERS = tuple(name for name in FROM_ROOT if BY_NAME[name].has_blocks)
TO_ROOT = tuple(o.name for o in TABLE if o.flow == "to_root")
"""Only the root waits."""

FOR_ALL = tuple(
    o.name for o in TABLE if o.flow == "among_all" and not (o.has_blocks and o.is_varying)
)
"""Every rank waits for every other one, whatever the algorithm; those with a count or a type for
each pair of ranks (alltoallv, allgatherv) may have nothing for some, and scans go one way."""


@functools.cache
def operation(call: str) -> str:
    """'MPI_Ibcast', 'MPI_Bcast_init' and 'MPI_Bcast' are 'bcast'."""
    name = call.removeprefix("MPI_").removesuffix("_init")
    return name[1:] if _has_mark(name) else name.lower()


@functools.cache
def is_non_blocking(call: str) -> bool:
    """Whether a collective operation is completed by another call."""
    return call.endswith("_init") or _has_mark(call.removeprefix("MPI_"))


def _has_mark(name: str) -> bool:
    """The I of a nonblocking call is followed by a lower-case letter."""
    is_word = name.startswith("Intercomm")
    return name[:1] == "I" and name[1:2].islower() and not is_word
