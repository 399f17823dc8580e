"""What to do about the calls that take most of the time in MPI, by their family."""

from __future__ import annotations

from nhalf.base.numbers import grouped, percent
from nhalf.facts.program.calls import (
    COMMUNICATORS,
    EPOCHS,
    FILES,
    PERSISTENT,
    POLLING,
    PROCESSES,
    TYPES,
    WINDOWS,
    LeadingCalls,
)

OFTEN = 10
"""What is made more often is made in a loop."""
_MADE = {
    WINDOWS: "windows are made and freed",
    COMMUNICATORS: "communicators are made",
    PERSISTENT: "persistent requests are started or freed one by one",
    TYPES: "datatypes are made or data is packed",
    PROCESSES: "processes are started or connected",
}
_REMEDIES = {
    WINDOWS: "make them once and reuse them",
    COMMUNICATORS: "make them once and reuse them",
    PERSISTENT: "make them once, and start them together (MPI_Startall)",
    TYPES: "make types once and reuse them, and send from where the data is",
    PROCESSES: "start them once and keep them",
}


def is_made_often(leading: LeadingCalls) -> bool:
    """Whether the calls make in a loop what could be made once."""
    return leading.family in _MADE and leading.times >= OFTEN


def advice(leading: LeadingCalls) -> str:
    """One sentence without a point at its end; '' where the calls are messages and operations."""
    name, times = leading.family, leading.times
    if is_made_often(leading):
        return f"{_MADE[name]} {grouped(times)} times: {_REMEDIES[name]}"
    if name in _MADE:
        return f"{leading.call} is set-up, called {_times(times)}: it weighs less in a longer run"
    if name == POLLING:
        return (
            f"rank {leading.rank} polls {grouped(times)} times ({leading.call}): compute between "
            "polls, or wait (MPI_Wait, MPI_Probe)"
        )
    if name == EPOCHS and leading.waiting_share > 0.5:
        return (
            f"ranks wait in {leading.call}, called {_times(times)}: put more accesses into one "
            "epoch, or lock once (MPI_Win_lock_all) and flush"
        )
    if name == FILES:
        return (
            f"{leading.call} takes {percent(leading.share)} of the time in MPI: write larger "
            "blocks, collectively (MPI_File_write_all)"
        )
    return ""


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{grouped(number)} times")
