# SPDX-License-Identifier: Apache-2.0
"""How findings speak of ratios, shares and counts, and how much each of them weighs."""

from __future__ import annotations

import math

from nhalf.statistics.intervals import Interval

FASTER = 1.03
"""Libraries count as different when the interval of their ratio lies beyond this."""

COSTLY = 1.10
"""A switch or a send mode is worth a finding when the interval of its cost lies beyond this."""


def times(value: float) -> str:
    """A ratio as people say it: '12x', '6.9x', '1.08x'."""
    places = 0 if value >= 10 else 1 if value >= 1.995 else 2
    return f"{value:.{places}f}x"


def between(interval: Interval) -> str:
    """'interval 6.5 to 7.2' for a ratio."""
    return f"interval {ends(interval)}"


def ends(interval: Interval) -> str:
    """'6.5 to 7.2' for a ratio."""
    low, high = times(interval.low), times(interval.high)
    if low == high:
        return f"{interval.low:.3g} to {interval.high:.3g}"
    return f"{low} to {high}".replace("x", "")


def weight(ratio: float, base: float, most: float) -> float:
    """Importance that grows with the logarithm of a ratio: a factor of 8 reaches the most."""
    return base + (most - base) * min(1.0, abs(math.log(ratio)) / math.log(8))


def percent(share: float) -> str:
    """A share of 1 as '12 %'."""
    return f"{share * 100:.0f} %"


def count(number: int, noun: str) -> str:
    """A number with its noun: '1 point', '12 points'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def sentence(text: str) -> str:
    """Text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
