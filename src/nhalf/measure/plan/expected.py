"""How long kernels of an application run: their operations over rates that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from nhalf.base.listing import ranks_text
from nhalf.base.units import format_duration
from nhalf.measure.plan.budget import SLICE_MAX_S
from nhalf.measure.plan.plan import Start

RUNS = 3
"""Whole runs of a kernel in a launch; short ones are repeated until their slice is over."""
LONG_S = 10.0
"""A launch or plan that takes longer is announced."""
SLOW_RATE = 1e8
"""Operations per second that any core reaches: what is short at this rate needs no estimate."""
TRIAL_OPERATIONS = 5e8
"""Most operations of a class that is run to learn the rate of larger ones."""
ELSEWHERE = 1.0
"""A rate of another start is worth one whose class has e times as many operations, or 1/e."""


class Rate(NamedTuple):
    """Operations per second of a kernel in a class of `operations`, and where it ran."""

    start: Start
    operations: float
    per_s: float


class KernelRates:
    """Rates of kernels by pattern; a rate of other ranks is scaled by the cores that compute."""

    def __init__(self, cores: int) -> None:
        """Begin without rates, on a machine with this many cores."""
        self._cores = max(1, cores)
        self._rates: dict[str, dict[tuple[Start, float], Rate]] = {}

    def learn(self, pattern: str, rate: Rate) -> None:
        """Note a rate, which replaces an earlier one of its class and start."""
        if rate.operations > 0 and 0 < rate.per_s < math.inf:
            self._rates.setdefault(pattern, {})[rate.start, rate.operations] = rate

    def run_s(self, pattern: str, start: Start, operations: float) -> float | None:
        """Return the seconds of a run of these operations, by the nearest rate; None if unknown.

        Nearest is a rate of a class with about as many operations, if possible of this start.
        """
        rates = self._rates.get(pattern, {}).values()
        if not rates or operations <= 0:
            return None

        def distance(rate: Rate) -> float:
            return abs(math.log(rate.operations / operations)) + ELSEWHERE * (rate.start != start)

        nearest = min(rates, key=distance)
        workers = min(start.ranks, self._cores) / min(nearest.start.ranks, self._cores)
        return operations / (nearest.per_s * workers)

    def point_s(self, pattern: str, start: Start, operations: float) -> float | None:
        """Return the seconds of a point, which is several runs; None if unknown."""
        run_s = self.run_s(pattern, start, operations)
        return None if run_s is None else max(RUNS * run_s, SLICE_MAX_S)


def trial_class(operations_by_class: Mapping[str, float], smallest: float) -> str:
    """Return the largest class that is quick and smaller than the smallest to be run; '' if none.

    A class that is run first shows the rate of others.
    """
    quick = [
        (operations, name)
        for name, operations in operations_by_class.items()
        if 0 < operations <= TRIAL_OPERATIONS and operations < smallest
    ]
    return max(quick)[1] if quick else ""


def plan_in_words(expected_s: float, launches: int, longest_s: float, budget_s: float) -> str:
    """Say how long a plan takes, and what to do if that is beyond its budget (0: none).

    '' for a short plan without a budget that it exceeds.
    """
    is_over = 0 < budget_s < expected_s
    if expected_s < LONG_S and not is_over:
        return ""
    whole = f"all {launches} launches take" if launches > 1 else "the launch takes"
    text = f"{whole} about {format_duration(expected_s)}"
    if launches > 1 and longest_s >= LONG_S:
        text += f", the longest {format_duration(longest_s)}"
    if not is_over:
        return text
    return (
        f"{text}, longer than --budget {format_duration(budget_s)}, which leaves launches out: "
        "give a longer --budget, a smaller --class or fewer --launches"
    )


def launch_in_words(title: str, ranks: int, kernels: str, expected_s: float) -> str:
    """Say what a launch runs, and for how long."""
    expected = format_duration(expected_s)
    return f"{title}, {kernels} on {ranks_text(ranks)}: about {expected}"


def elapsed_in_words(elapsed_s: float, expected_s: float) -> str:
    """Say how much of the expected time is over: '3 min of about 9 min'."""
    if elapsed_s > expected_s:
        return f"{format_duration(elapsed_s)}, expected {format_duration(expected_s)}"
    return f"{format_duration(elapsed_s)} of about {format_duration(expected_s)}"
