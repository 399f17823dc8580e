"""How much of a launch a point gets: as many short launches as make the mean most certain.

A launch k visits a point m times for t seconds each. With the variance of launches L, that of
visits of one launch V, and W/t that of the median of a visit, the mean over n launches has the
variance (L + V/m + W/(m t)) / n; a launch costs the point its share s of the start, and each visit
a fixed time f beside its samples. In a given time the variance is least where

    (L + V/m + W/(m t)) (s + m (f + t))

is, and for each m that is at t = sqrt((W/m) (s/m + f) / (L + V/m)): two-stage sampling with costs
(W. Cochran, Sampling Techniques, 3rd ed., 1977, 10.6). All variances are relative.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nhalf.measure.plan.agenda import Agenda, Family, Thinning, strided
from nhalf.measure.plan.budget import LAUNCHES_MIN, Budget, Group

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


SIZES_LEAST = 3
"""Fewest sizes after thinning: both ends and one between."""

SIZES_LEAST_OF_MANY = 7
"""A curve with more launches than LAUNCHES_FEW loses no more sizes once it has these few."""

LAUNCHES_FEW = 3
"""Launches that a comparison needs at least (statistics/same_state.py)."""

INSERTED_STRIDE_MAX = 4
"""Beyond this stride no inserted sizes are measured."""

WHOLE_LEAST = 8
"""Fewest combinations of axes of a whole block that is not left out."""


def thin(agenda: Agenda, budget: Budget) -> None:
    """Leave points out until the launches that the budget keeps fit into the time that is left.

    Launches beyond LAUNCHES_MIN go first, then sizes, those inserted before those of the plan, down
    to SIZES_LEAST_OF_MANY, then values of axes, then launches beyond LAUNCHES_FEW, then further
    sizes, then further launches, each time from the block that takes most for its weight. A
    whole block keeps its points, but only one launch; then it loses values of axes down to
    WHOLE_LEAST, and sizes, from which its result can still be estimated, and is finally left out.
    Where the budget keeps every launch, only sizes and values of axes go, and whole blocks stay.
    """
    budget.count(agenda.remaining_points())
    while budget.short_s() > 0 and _thin_once(agenda, budget):
        _count(agenda, budget)


def widen(agenda: Agenda, budget: Budget) -> bool:
    """Take points back in if the kept launches of them fit; return whether there were any.

    Sizes and values of axes come first, then launches.
    """
    for loosened in (_with_more_points, _with_more_launches):
        for number, tight in enumerate(agenda.thinned):
            agenda.thinned[number] = loosened(agenda, number)
            if agenda.thinned[number] == tight:
                continue
            _count(agenda, budget)
            if budget.short_s() == 0 and agenda.remaining_points():
                return True
            agenda.thinned[number] = tight
            _count(agenda, budget)
    return False


def _with_more_points(agenda: Agenda, number: int) -> Thinning:
    """Return a block's thinning with more sizes, else more axes, or a launch if it had none."""
    thinning = agenda.thinned[number]
    if thinning.launches == 0:
        return replace(thinning, launches=1)
    if thinning.sizes > 1:
        return replace(thinning, sizes=thinning.sizes // 2)
    if thinning.inserted != 1:
        return replace(thinning, inserted=thinning.inserted // 2 or INSERTED_STRIDE_MAX)
    return replace(thinning, axes=max(1, thinning.axes // 2))


def _with_more_launches(agenda: Agenda, number: int) -> Thinning:
    thinning = agenda.thinned[number]
    planned = agenda.plan.launches_of(agenda.plan.blocks[number])
    return replace(thinning, launches=planned) if thinning.launches else thinning


def _count(agenda: Agenda, budget: Budget) -> None:
    agenda.changed()
    budget.count(agenda.remaining_points(), anew=True)


def _thin_once(agenda: Agenda, budget: Budget) -> bool:
    """Thin one block by one step; return whether that was possible."""
    keeps_all = budget.launches_kept > LAUNCHES_MIN
    many = [thinning for thinning in agenda.thinned if thinning.launches > LAUNCHES_MIN]
    if many and not keeps_all:
        for thinning in many:
            thinning.launches = LAUNCHES_MIN
        return True
    needs = _needs_s(agenda, budget)
    whole = {block for block in needs if agenda.plan.blocks[block].whole}
    sizes = {
        block
        for block in needs
        if block not in whole and _more_sizes(agenda, block, _sizes_least(agenda, block, keeps_all))
    }
    axes = {block for block in needs if block not in whole and _more_axes(agenda, block)}
    repeated = {block for block in needs if agenda.thinned[block].launches > 1}
    candidates = sizes or axes if keeps_all else whole | (sizes or axes) or repeated
    if not candidates:
        return False
    largest = max(candidates, key=lambda block: needs[block])
    thinning = agenda.thinned[largest]
    if largest in whole:
        _thin_whole(agenda, largest)
    elif largest in sizes:
        _thin_sizes(agenda, largest)
    elif largest in axes:
        thinning.axes *= 2
    else:
        thinning.launches = (thinning.launches + 1) // 2
    return True


def _sizes_least(agenda: Agenda, block: int, keeps_all: bool) -> int:
    """Fewest sizes of a block: a curve can be seen where launches do not go first."""
    has_many = keeps_all or agenda.thinned[block].launches > LAUNCHES_FEW
    return SIZES_LEAST_OF_MANY if has_many else SIZES_LEAST


def _thin_sizes(agenda: Agenda, block: int) -> None:
    """Leave out inserted sizes, step by step, then sizes of the plan."""
    thinning = agenda.thinned[block]
    if not _has_inserted(agenda, block):
        thinning.sizes *= 2
    elif thinning.inserted == INSERTED_STRIDE_MAX:
        thinning.inserted = 0
    else:
        thinning.inserted *= 2


def _thin_whole(agenda: Agenda, block: int) -> None:
    """Thin a whole block: one launch, then fewer values of axes, then fewer sizes, then nothing."""
    thinning = agenda.thinned[block]
    families = list(_of_block(agenda, block))
    if thinning.launches > 1:
        thinning.launches = 1
    elif all(len(strided(family.axes, 2 * thinning.axes)) >= WHOLE_LEAST for family in families):
        thinning.axes *= 2
    elif _more_sizes(agenda, block):
        thinning.sizes *= 2
    else:
        thinning.launches = 0


def _needs_s(agenda: Agenda, budget: Budget) -> dict[int, float]:
    """Return the least time of each block in the kept launches, relative to its weight."""
    needs: dict[int, float] = {}
    for (start, launch, number), points in agenda.remaining_points().items():
        if launch < budget.launches_kept:
            need_s = points * budget.least_s(Group(number, start.ranks))
            needs[number] = needs.get(number, 0.0) + need_s / agenda.plan.blocks[number].weight
    return needs


def _more_sizes(agenda: Agenda, block: int, least: int = SIZES_LEAST) -> bool:
    """Whether a block has more than the least number of sizes."""
    stride = agenda.thinned[block].sizes
    return _has_inserted(agenda, block) or any(
        len(strided(family.sizes, stride)) > least for family in _of_block(agenda, block)
    )


def _has_inserted(agenda: Agenda, block: int) -> bool:
    """Whether a block still has sizes between those of its plan."""
    thinning = agenda.thinned[block]
    return (
        thinning.sizes == 1
        and thinning.inserted > 0
        and any(agenda.inserted(family) for family in _of_block(agenda, block))
    )


def _more_axes(agenda: Agenda, block: int) -> bool:
    stride = agenda.thinned[block].axes
    return any(len(strided(f.axes, stride)) > 2 for f in _of_block(agenda, block))


def _of_block(agenda: Agenda, block: int) -> Iterator[Family]:
    return (family for family in agenda.every_family() if family.block == block)
