# SPDX-License-Identifier: Apache-2.0
"""The collective operation of a call, in any of its forms."""

from __future__ import annotations

SCATTERS = ("scatter", "scatterv")
ROOTED = ("bcast", "gather", "gatherv", "reduce", "scatter", "scatterv")


def operation(call: str) -> str:
    """'MPI_Ibcast', 'MPI_Bcast_init' and 'MPI_Bcast' are 'bcast'."""
    name = call.removeprefix("MPI_").removesuffix("_init")
    # The I of a non-blocking call is followed by a small letter, and no other name begins so.
    return name[1:] if name[:1] == "I" and name[1:2].islower() else name.lower()
