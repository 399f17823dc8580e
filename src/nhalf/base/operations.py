# SPDX-License-Identifier: Apache-2.0
"""The collective operations, by the names of their patterns."""

from __future__ import annotations

OPERATIONS = (
    "bcast",
    "scatter",
    "gather",
    "allgather",
    "alltoall",
    "alltoallv",
    "reduce",
    "allreduce",
    "reduce-scatter",
    "scan",
    "barrier",
)
NATIVE = "native"
"""The value of the column `algorithm` if the library chooses the algorithm itself."""

VARYING = ("gatherv", "scatterv", "allgatherv", "alltoallw", "reduce-scatterv")
"""Operations with a count per rank; the only algorithms for them are the library's own."""

NEIGHBOURS = tuple(
    f"neighbor-{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
"""Operations in which every rank communicates only with its neighbours."""

COLLECTIVES = (*OPERATIONS, *VARYING, *NEIGHBOURS)
"""Every blocking operation."""

NON_BLOCKING = tuple(f"i{name}" for name in COLLECTIVES)
PERSISTENT = tuple(f"{name}-persistent" for name in COLLECTIVES)
OVERLAPPING = (*NON_BLOCKING, *PERSISTENT)
"""Nonblocking operations: started and completed, with or without work in between."""
