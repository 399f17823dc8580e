"""One way to perform a pattern, and the range in which a machine's data hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.units import format_size

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

    Of `ranks_max` users may get no more than `ranks_for_users`.
    """

    ranks_max: int | None
    largest_bytes: int | None
    ranks_for_users: int | None = None

    def holds(self, ranks: int, size_bytes: int) -> bool:
        """Whether the range covers this number of ranks and this size."""
        ranks_max = self.ranks_for_users or self.ranks_max
        return ranks <= (ranks_max or ranks) and self._reaches(size_bytes)

    def _reaches(self, size_bytes: int) -> bool:
        return self.largest_bytes is None or size_bytes <= self.largest_bytes

    def check(self, ranks: int, size_bytes: int) -> None:
        """Raises InputError for values outside the range."""
        if ranks > (self.ranks_max or ranks):
            reason = f"the machine has room for {self.ranks_max} ranks, not for {ranks}"
            raise InputError(reason, "ask for fewer, or allow more with --extrapolate")
        if not self._reaches(size_bytes):
            raise InputError(
                f"nothing is known of messages above {format_size(self.largest_bytes or 0)}",
                "ask for less, or allow it with --extrapolate",
            )
