"""Rates of units that cannot be, or that launches do not agree about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nhalf.base.numbers import fixed
from nhalf.statistics.intervals import Interval

Key = tuple[str, int]
"""A kernel and the width of its operands in bits."""

APART = 1.1
"""Rates are different where one is more than this factor above the other."""
MANY = 2
"""The number of launches that have to agree about a rate."""
SCALAR_BITS = 64
FEW_LAUNCHES = 3
"""The fastest of more launches may be due to a wrong reading of the clock."""
NEAR_INTEGER = 0.02
"""A rate is that of a whole number of units within this relative error."""


@dataclass(frozen=True)
class RateDoubt:
    """Why a rate is doubtful, and the most that it may be in truth, for bounds."""

    reason: str
    most_per_cycle: float


def rate_doubts(
    rates: Mapping[Key, Interval],
    by_launch: Mapping[Key, Sequence[float]],
    was_alone: Mapping[Key, bool],
) -> dict[Key, RateDoubt]:
    """The doubtful rates, by kernel and width; those that are not are left out.

    `by_launch` has the rate in every launch, `was_alone` whether the core was alone in any.
    """
    doubts: dict[Key, RateDoubt] = {}
    for key, rate in rates.items():
        if reason := _reason(rate.median, by_launch.get(key, ()), was_alone.get(key, True)):
            doubts[key] = RateDoubt(reason, max(rate.high, *by_launch.get(key, ())))
    # The narrower of two widths of a kernel begins at least as often.
    for narrow, wide in combinations(sorted(rates), 2):
        if narrow[0] != wide[0] or rates[wide].median <= APART * rates[narrow].median:
            continue
        is_wide_odd = not _is_integer(rates[wide].median)
        odd, even = (wide, narrow) if is_wide_odd else (narrow, wide)
        width = "scalars" if even[1] == SCALAR_BITS else f"{even[1]} bits"
        relation = "more" if is_wide_odd else "less"
        measured = f"{fixed(rates[odd].median, 2)} per cycle measured"
        reason = f"{measured}, {relation} than {width} ({fixed(rates[even].median, 2)})"
        most = rates[narrow].high if is_wide_odd else max(rates[narrow].high, rates[wide].high)
        doubts.setdefault(odd, RateDoubt(reason, most))
    return doubts


def quickest(rates: Sequence[float]) -> float:
    """The rate of the fastest launch; of many the second or the upper quartile, since a reading of
    the clock may be wrong.
    """
    ordered = sorted(rates, reverse=True)
    return ordered[max(1, len(ordered) // 4)] if len(ordered) > FEW_LAUNCHES else ordered[0]


def _reason(rate: float, launches: Sequence[float], was_alone: bool) -> str:
    """Why a rate by itself is doubtful; '' if it is not."""
    chosen = quickest(launches) if launches else rate
    near = [launch for launch in launches if chosen / APART < launch < chosen * APART]
    if len(launches) > 1 and len(near) < MANY:
        ends = f"{fixed(min(launches), 2)} to {fixed(max(launches), 2)} a cycle"
        return f"launches disagree ({ends})"
    if not was_alone and not _is_integer(rate):
        return "other programs had the core in every launch"
    return ""


def _is_integer(rate: float) -> bool:
    """Whether a rate is a whole number per cycle, or one in a whole number of cycles."""
    steps = rate if rate >= 1 else 1 / rate
    return abs(steps / round(steps) - 1) < NEAR_INTEGER
