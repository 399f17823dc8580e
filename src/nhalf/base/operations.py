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

NON_BLOCKING = tuple(f"i{name}" for name in OPERATIONS)
