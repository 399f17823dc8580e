# SPDX-License-Identifier: Apache-2.0
"""What carries the data, by one name."""

from __future__ import annotations

MESSAGES = ("mpi", "simulated")
"""Transports that are a library's messages, or those of a simulated machine."""


def carrier(mpi: str | None, transport: str) -> str:
    """The name of a library, with the transport where that is not its messages: 'mpich-5.0.2 rma'.

    Without a library the transport's own.
    """
    if not mpi:
        return transport
    return mpi if transport in MESSAGES else f"{mpi} {transport}"
