"""One name for the library and transport that carry the data."""

WINDOWS = ("rma",)
"""Transports that a library offers besides messages; + marks one with its own options."""
TEAMS = ("npb-hybrid",)
"""Programs whose ranks have threads, beside those of single ranks."""


def carrier(mpi: str | None, transport: str) -> str:
    """A library's name, with the transport unless it is messages: 'mpich-5.0.2 rma'.

    Without a library, the name of the transport.
    """
    if not mpi:
        return transport
    is_messages = transport not in (*WINDOWS, *TEAMS) and "+" not in transport
    return mpi if is_messages else f"{mpi} {transport}"
