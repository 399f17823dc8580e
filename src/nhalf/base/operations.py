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
"""The algorithm of a library's own choice, as the column `algorithm` has it."""

VARYING = ("gatherv", "scatterv", "allgatherv", "alltoallw", "reduce-scatterv")
"""Operations with a count per rank, of which there are no algorithms but the library's own."""

NEIGHBOURS = tuple(
    f"neighbor-{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
"""Operations in which every rank talks to its neighbours only."""

COLLECTIVES = (*OPERATIONS, *VARYING, *NEIGHBOURS)
"""Every blocking operation."""

NON_BLOCKING = tuple(f"i{name}" for name in COLLECTIVES)
PERSISTENT = tuple(f"{name}-persistent" for name in COLLECTIVES)
OVERLAPPING = (*NON_BLOCKING, *PERSISTENT)
"""What is started and waited for, with work in between or without."""
