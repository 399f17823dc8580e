# SPDX-License-Identifier: Apache-2.0
"""What carries the data, by one name."""

from __future__ import annotations

WINDOWS = ("rma",)
"""Transports that a library carries beside its messages; one with options of its own has a +."""


def carrier(mpi: str | None, transport: str) -> str:
    """The name of a library, with the transport where that is not its messages: 'mpich-5.0.2 rma'.

    Without a library the transport's own.
    """
    if not mpi:
        return transport
    is_messages = transport not in WINDOWS and "+" not in transport
    return mpi if is_messages else f"{mpi} {transport}"
