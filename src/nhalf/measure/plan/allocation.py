"""How much of a launch a point gets: as many short launches as make the mean most certain.

A launch k visits a point m times for t seconds each. With the variance of launches L, that of
visits of one launch V, and W/t that of the median of a visit, the mean over n launches has the
variance (L + V/m + W/(m t)) / n; a launch costs the point its share s of the start, and each visit
a fixed time f beside its samples. In a given time the variance is least where

    (L + V/m + W/(m t)) (s + m (f + t))

is, and for each m that is at t = sqrt((W/m) (s/m + f) / (L + V/m)): two-stage sampling with costs
(W. Cochran, Sampling Techniques, 3rd ed., 1977, 10.6). All variances are relative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

PILOT_LAUNCHES = 2
"""Launches from which variances are learned."""
MEDIAN_TO_MEAN = math.pi / 2
"""Variance of the median of many normal samples, relative to that of their mean."""
REVISITED_LEAST = 0.25
"""Share of the points visited repeatedly in a launch from which on the others are taken to be
alike: a few may be those that something disturbed."""
QUARTILES = 1.349
"""Distance of the quartiles of the normal distribution in standard deviations."""


class Variances(NamedTuple):
    """Relative variances at a typical point: of launches, of visits within one, and of the median
    of a visit times the seconds that it samples.
    """

    launch_variance: float
    visit_variance: float
    sampling_variance_s: float


class PointCosts(NamedTuple):
    """Seconds: a point's share of a start, and of a visit beside its samples."""

    launch_s: float
    visit_s: float


class VisitAllocation(NamedTuple):
    """The visits of a launch to a point, and for how long each samples."""

    visits: int
    slice_s: float


def best(
    variances: Variances, costs: PointCosts, least_s: float, most_s: float, visits_max: int
) -> VisitAllocation:
    """The allocation of least variance in a given time, of slices from `least_s` to `most_s` and up
    to `visits_max` visits.
    """
    allocations = [
        VisitAllocation(visits, min(most_s, max(least_s, _slice_s(variances, costs, visits))))
        for visits in range(1, visits_max + 1)
    ]
    return min(allocations, key=lambda allocation: objective(variances, costs, allocation))


def objective(variances: Variances, costs: PointCosts, allocation: VisitAllocation) -> float:
    """What is to be least: the variance of a launch's mean times the seconds that it takes."""
    visits, slice_s = allocation
    of_visit = variances.visit_variance + variances.sampling_variance_s / slice_s
    seconds = costs.launch_s + visits * (costs.visit_s + slice_s)
    return (variances.launch_variance + of_visit / visits) * seconds


def _slice_s(variances: Variances, costs: PointCosts, visits: int) -> float:
    between = variances.launch_variance + variances.visit_variance / visits
    within = variances.sampling_variance_s / visits * (costs.launch_s / visits + costs.visit_s)
    if between <= 0:
        return math.inf if within > 0 else 0.0
    return math.sqrt(within / between)


def samples_variance_s(samples_s: Sequence[float], seconds: float) -> float | None:
    """Relative variance of the median of these samples, times the seconds that they took.

    None for fewer than four samples, from which no quartiles can be told.
    """
    if len(samples_s) < 4:
        return None
    ordered, last = sorted(samples_s), len(samples_s) - 1
    low, middle, high = (ordered[round(share * last)] for share in (0.25, 0.5, 0.75))
    if not middle > 0:
        return None
    deviation = (high - low) / QUARTILES / middle
    return MEDIAN_TO_MEAN * deviation**2 / len(samples_s) * seconds


def variances_of(
    visits_by_point: Iterable[Mapping[int, Sequence[float]]],
    sampling_variance_s: float,
    slice_s: float,
) -> Variances | None:
    """Variances from the medians of the visits of each launch, by launch, of several points.

    `sampling_variance_s` is that of the samples of visits, which took `slice_s`. The typical point
    is the median one. None where no point has two launches. Where few points were visited more than
    once in a launch, all that their samples do not explain is put down to launches.
    """
    within: list[tuple[float, int]] = []
    between: list[tuple[float, int]] = []
    shares: list[float] = []
    for by_launch in visits_by_point:
        logs = [np.log(medians) for medians in by_launch.values() if min(medians) > 0]
        counts = np.array([len(launch) for launch in logs])
        if degrees := int(counts.sum()) - len(logs):
            squares = sum(len(launch) * float(launch.var()) for launch in logs)
            within.append((squares / degrees, degrees))
        if len(logs) > 1:
            means = np.array([launch.mean() for launch in logs])
            between.append((float(means.var(ddof=1)), len(logs) - 1))
            shares.append(float(np.mean(1 / counts)))
    if not between:
        return None
    of_median = sampling_variance_s / slice_s if slice_s > 0 else 0.0
    is_known = len(within) >= REVISITED_LEAST * len(between)
    visit_variance = max(0.0, _typical(within) - of_median) if is_known else 0.0
    beyond = _typical(between) - (visit_variance + of_median) * float(np.mean(shares))
    return Variances(max(0.0, beyond), visit_variance, sampling_variance_s)


def _typical(estimates: Sequence[tuple[float, int]]) -> float:
    """The median of estimates of a variance, each with its degrees of freedom k, made unbiased: of
    a chi-squared distribution it is about 1 - 2/(9 k), cubed (Wilson and Hilferty 1931).
    """
    if not estimates:
        return 0.0
    unbiased = [value / (1 - 2 / (9 * degrees)) ** 3 for value, degrees in estimates]
    return float(np.median(unbiased))
