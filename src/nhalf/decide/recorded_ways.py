"""Ways from what a machine's record says beside its messages: its own operations, shared loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nhalf.decide.way import ValidityRange, Way
from nhalf.machines.all_to_all import AllToAll
from nhalf.machines.in_memory import InMemory
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Messages
from nhalf.machines.published_times import PublishedTimes, published_times
from nhalf.mpi.decision_table import NATIVE


def recorded_ways(
    pattern: str, messages: Messages, ways: Sequence[Way], extent: ValidityRange, extrapolate: bool
) -> list[Way]:
    """The machine's own operation where its record says how it is performed, unless it has times.

    It is performed in a shared memory, or by one of the composed `ways`.
    """
    names = {way.algorithm: way for way in ways}
    operations = [own for own in messages.machine.operations if own.pattern == pattern]
    if not operations or NATIVE in names:
        return []
    operation = operations[0]
    if operation.algorithm:
        chosen = names.get(operation.algorithm)
        basis = f"{NATIVE} is {operation.algorithm}, {operation.origin}: {operation.why}"
        return [replace(chosen, algorithm=NATIVE, basis=basis)] if chosen else []
    in_memory = InMemory(operation, messages)
    any_size = replace(extent, largest_bytes=None)

    def time_s(ranks: int, size_bytes: int) -> float:
        if not extrapolate:
            any_size.check(ranks, size_bytes)
        return in_memory.time_s(ranks, size_bytes)

    source = f"in the shared memory, {operation.origin}: {operation.why}"
    return [
        Way(
            *(NATIVE, time_s, source, any_size.holds),
            interval_s=in_memory.interval_s,
            basis=f"{NATIVE} is {source}",
        )
    ]


def at_published(
    pattern: str,
    machine: Machine,
    ways: Sequence[Way],
    extent: ValidityRange,
    curves: Sequence[FittedModel],
) -> list[Way]:
    """Ways that take their published times where there are any, of the placement of `curves`.

    A library's own operation of which nothing else is known lies between them.
    """
    placement = next((curve.placement for curve in curves), "")
    published = {times.algorithm: times for times in published_times(machine, pattern, placement)}
    with_times = [
        _where_published(way, published[way.algorithm]) if way.algorithm in published else way
        for way in ways
    ]
    own = published.get(NATIVE)
    if own is None or any(way.algorithm == NATIVE for way in ways):
        return with_times
    return [Way(NATIVE, own.between_s, f"published{_of_ranks(own)}", extent.holds), *with_times]


def _where_published(way: Way, times: PublishedTimes) -> Way:
    """A way with its published times, and between them no less than those of smaller sizes."""

    def time_s(ranks: int, size_bytes: int) -> float:
        published_s = times.at_s(ranks, size_bytes)
        if published_s is not None:
            return published_s
        return max(way.time_s(ranks, size_bytes), times.smaller_s(ranks, size_bytes))

    return replace(way, time_s=time_s, source=f"{way.source}; published{_of_ranks(times)}")


def _of_ranks(times: PublishedTimes) -> str:
    counts = sorted({ranks for ranks, _ in times.times_s})
    return f" of {', '.join(map(str, counts))} ranks"


def slowed_by_load(
    pattern: str,
    messages: Messages,
    ways: Sequence[Way],
    is_followed: Callable[[str, int, int], bool],
) -> list[Way]:
    """Ways whose bytes take as long as on the most loaded resource, where resources are recorded.

    In an all-to-all all are loaded at once. Where messages are followed they show that by
    themselves: `is_followed` tells by algorithm, ranks and size in bytes.
    """
    if pattern != "alltoall" or not messages.machine.shared:
        return list(ways)
    all_to_all = AllToAll(messages)

    def slowed(way: Way) -> Way:
        def time_s(ranks: int, size_bytes: int) -> float:
            whole_s = way.time_s(ranks, size_bytes)
            if is_followed(way.algorithm, ranks, size_bytes):
                return whole_s
            start_s = min(whole_s, way.time_s(ranks, 0))
            return start_s + (whole_s - start_s) * all_to_all.slower(ranks, size_bytes)

        return replace(way, time_s=time_s)

    return [slowed(way) for way in ways]
