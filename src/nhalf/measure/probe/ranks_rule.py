# SPDX-License-Identifier: Apache-2.0
"""On how many ranks a pattern runs, as probes name it."""

from __future__ import annotations

import math

ANY, POWER_OF_TWO, SQUARE, TWO_FACTORS = "any", "power-of-two", "square", "two-factors"
WORDS = {
    ANY: "any number of ranks",
    POWER_OF_TWO: "a power of two of ranks",
    SQUARE: "a square number of ranks",
    TWO_FACTORS: "x times y ranks, with y between x/2 and x",
}
"""Every rule, as people say it."""


def allows(rule: str, ranks: int) -> bool:
    """Whether this many ranks, 1 or more, are allowed; rules of newer probes are left to them."""
    if rule == POWER_OF_TWO:
        return ranks & (ranks - 1) == 0
    if rule == SQUARE:
        return math.isqrt(ranks) ** 2 == ranks
    if rule == TWO_FACTORS:
        pairs = ((ranks // y, y) for y in range(1, math.isqrt(ranks) + 1) if ranks % y == 0)
        return any(2 * y >= x for x, y in pairs)
    return True


def largest(rule: str, most: int) -> list[int]:
    """The largest of the numbers that are allowed up to `most`, which is 1 or more."""
    found = [number for number in nearby(rule, most) if number <= most]
    return found[-3:]


def nearby(rule: str, ranks: int) -> list[int]:
    """The numbers that are allowed up to the first one above `ranks`, the last four of them."""
    found: list[int] = []
    number = 0
    while not found or found[-1] <= ranks:
        number += 1
        if allows(rule, number):
            found.append(number)
    return found[-4:]
