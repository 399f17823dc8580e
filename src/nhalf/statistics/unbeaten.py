"""Which of several options no other beats, where two things count."""

from collections.abc import Sequence

ROUNDING = 1e-9
"""Relative difference of numbers that are equal."""


def unbeaten(costs: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether no other option is as good in both costs and better in one: the Pareto front."""
    return [not any(_beats(other_costs, own) for other_costs in costs) for own in costs]


def _beats(first: tuple[float, float], second: tuple[float, float]) -> bool:
    pairs = list(zip(first, second, strict=True))
    is_as_good = all(ours <= theirs * (1 + ROUNDING) for ours, theirs in pairs)
    return is_as_good and any(ours < theirs * (1 - ROUNDING) for ours, theirs in pairs)
