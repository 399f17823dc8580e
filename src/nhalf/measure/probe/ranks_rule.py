"""Rules for the number of ranks that a pattern runs on, as probes name them."""

from __future__ import annotations

import math

ANY, POWER_OF_TWO, SQUARE, TWO_FACTORS = "any", "power-of-two", "square", "two-factors"
WORDS = {
    ANY: "any number of ranks",
    POWER_OF_TWO: "a power of two of ranks",
    SQUARE: "a square number of ranks",
    TWO_FACTORS: "x times y ranks, with y between x/2 and x",
}
"""Every rule in words."""


def allows(rule: str, ranks: int) -> bool:
    """Whether this many ranks, 1 or more, are allowed; an unknown rule allows all."""
    if rule == POWER_OF_TWO:
        return ranks & (ranks - 1) == 0
    if rule == SQUARE:
        return math.isqrt(ranks) ** 2 == ranks
    if rule == TWO_FACTORS:
        pairs = ((ranks // y, y) for y in range(1, math.isqrt(ranks) + 1) if ranks % y == 0)
        return any(2 * y >= x for x, y in pairs)
    return True


def largest(rule: str, most: int) -> list[int]:
    """Return the three largest numbers of ranks that are allowed up to `most`, 1 or more."""
    numbers = [number for number in nearby(rule, most) if number <= most]
    return numbers[-3:]


def nearby(rule: str, ranks: int) -> list[int]:
    """Return the last four allowed numbers of ranks up to the first one above `ranks`."""
    numbers: list[int] = []
    number = 0
    while not numbers or numbers[-1] <= ranks:
        number += 1
        if allows(rule, number):
            numbers.append(number)
    return numbers[-4:]
