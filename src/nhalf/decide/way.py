"""One way to perform a pattern, and the range in which a machine's data hold.

Ways from what its record says beside messages: its own operations, shared loads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nhalf.base.errors import InputError
from nhalf.base.units import format_size
from nhalf.machines.in_memory import InMemory
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.message import Messages
from nhalf.machines.published_times import PublishedTimes, published_times
from nhalf.machines.together import AllToAll
from nhalf.mpi.decision_table import NATIVE

COMPOSED = "composed"
"""How the source of a composed time begins."""

Seconds = Callable[[int, int], float]
"""Time as a function of ranks and bytes; raises InputError if it is unknown."""
Interval = Callable[[int, int], tuple[float, float]]
"""The interval of a time as a function of ranks and bytes."""
PartOf = Callable[[int, int], int | None]
"""The bytes of a part as a function of ranks and bytes; None where a message is not cut."""


@dataclass(frozen=True)
class Way:
    """One way to perform a pattern, with the source of its time in a sentence.

    `knows` says whether the time for a number of ranks and a size is not an extrapolation; `error`
    is the relative error that 95 % of the cells left out of a fit stay below, None if unknown.
    `interval_s` is the interval where numbers of the machine are known as ranges. `part_bytes` is
    the size of parts with which the time is composed; where it is searched, `in_parts_s` is the
    time with parts of any size. `basis` says what the machine's own operation is, where that is
    recorded.
    """

    algorithm: str
    time_s: Seconds
    source: str
    knows: Callable[[int, int], bool] = lambda ranks, size_bytes: True
    error: float | None = None
    part_bytes: PartOf = lambda ranks, size_bytes: None
    in_parts_s: Callable[[int, int, int], float] | None = None
    interval_s: Interval | None = None
    basis: str = ""

    @property
    def is_composed(self) -> bool:
        """Whether the time is composed of messages, and not that of a model of the pattern."""
        return self.source.startswith(COMPOSED)


@dataclass(frozen=True)
class ValidityRange:
    """The range of validity of a machine: ranks and message sizes; None: unbounded.

    Of `ranks_max` users may get no more than `ranks_for_users`. With `extrapolates` times are given
    beyond it as well.
    """

    ranks_max: int | None
    largest_bytes: int | None
    ranks_for_users: int | None = None
    extrapolates: bool = False

    def holds(self, ranks: int, size_bytes: int) -> bool:
        """Whether the range covers this number of ranks and this size."""
        ranks_max = self.ranks_for_users or self.ranks_max
        return ranks <= (ranks_max or ranks) and self._reaches(size_bytes)

    def _reaches(self, size_bytes: int) -> bool:
        return self.largest_bytes is None or size_bytes <= self.largest_bytes

    def checked(self, time_s: Seconds) -> Seconds:
        """A time that raises InputError outside the range."""

        def checked_s(ranks: int, size_bytes: int) -> float:
            self.check(ranks, size_bytes)
            return time_s(ranks, size_bytes)

        return checked_s

    def check(self, ranks: int, size_bytes: int) -> None:
        """Raises InputError for values outside the range, unless it extrapolates."""
        if self.extrapolates:
            return
        if ranks > (self.ranks_max or ranks):
            reason = f"the machine has room for {self.ranks_max} ranks, not for {ranks}"
            raise InputError(reason, "ask for fewer, or allow more with --extrapolate")
        if not self._reaches(size_bytes):
            message = f"nothing is known of messages above {format_size(self.largest_bytes or 0)}"
            raise InputError(message, "ask for less, or allow it with --extrapolate")


def recorded_ways(
    pattern: str, messages: Messages, ways: Sequence[Way], extent: ValidityRange
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
    source = f"in the shared memory, {operation.origin}: {operation.why}"
    return [
        Way(
            *(NATIVE, any_size.checked(in_memory.time_s), source, any_size.holds),
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
