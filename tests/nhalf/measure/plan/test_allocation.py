"""How a launch's time is allocated, against a search over all allocations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.measure.plan.allocation import (
    PointCosts,
    Variances,
    VisitAllocation,
    best,
    objective,
    samples_variance_s,
    variances_of,
)

LEAST_S, MOST_S, VISITS_MAX = 0.001, 0.4, 3


@pytest.mark.parametrize("launch", [0.0, 1e-4, 0.01, 0.1])
@pytest.mark.parametrize("visit", [0.0, 1e-4, 0.01])
@pytest.mark.parametrize("sampling", [0.0, 1e-6, 1e-4, 0.01])
@pytest.mark.parametrize("launch_s", [0.0, 0.001, 0.1])
def test_no_other_allocation_has_less_variance(
    launch: float, visit: float, sampling: float, launch_s: float
) -> None:
    variances, costs = Variances(launch, visit, sampling), PointCosts(launch_s, 0.003)
    chosen = best(variances, costs, LEAST_S, MOST_S, VISITS_MAX)
    assert LEAST_S <= chosen.slice_s <= MOST_S
    least = min(
        objective(variances, costs, VisitAllocation(visits, float(slice_s)))
        for visits in range(1, VISITS_MAX + 1)
        for slice_s in np.geomspace(LEAST_S, MOST_S, 200)
    )
    assert objective(variances, costs, chosen) <= least * (1 + 1e-9)


def test_launches_that_differ_are_made_short_and_equal_ones_long() -> None:
    costs = PointCosts(0.01, 0.003)
    assert best(Variances(0.01, 0.0, 1e-9), costs, LEAST_S, MOST_S, 3) == (1, LEAST_S)
    assert best(Variances(0.0, 0.0, 1e-3), costs, LEAST_S, MOST_S, 1) == (1, MOST_S)
    assert best(Variances(0.0, 0.01, 1e-9), costs, LEAST_S, MOST_S, 3).visits == 3


def test_variances_are_told_apart() -> None:
    """Forty launches of two visits to thirty points, whose medians are known to 1 %."""
    random = np.random.default_rng(1)
    levels = random.normal(0, 0.1, 40)
    points = [
        {
            number: np.exp(level + random.normal(0, math.hypot(0.05, 0.01), 2)).tolist()
            for number, level in enumerate(levels + random.normal(0, 0.001, 40))
        }
        for _ in range(30)
    ]
    slice_s = 0.004
    variances = variances_of(points, 0.01**2 * slice_s, slice_s)
    assert variances is not None
    assert math.sqrt(variances.visit_variance) == pytest.approx(0.05, rel=0.1)
    assert math.sqrt(variances.launch_variance) == pytest.approx(float(np.std(levels)), rel=0.1)


@pytest.mark.parametrize(("revisited", "is_known"), [(1, False), (24, False), (25, True)])
def test_a_few_points_do_not_tell_how_visits_differ(revisited: int, is_known: bool) -> None:
    """Visits of some points differ by far more than launches of the others."""
    points = [{0: [1.0, 1.5], 1: [1.1, 1.6]}] * revisited
    points += [{0: [1.0], 1: [1.1]}] * (100 - revisited)
    variances = variances_of(points, 0.0, 0.004)
    assert variances is not None
    assert (variances.visit_variance > 0) == is_known
    assert (variances.launch_variance > 0) != is_known


@pytest.mark.parametrize(
    "points", [[], [{}], [{0: [1.0, 2.0]}], [{0: [0.0], 1: [1.0]}], [{0: [1.0]}, {1: [1.0]}]]
)
def test_one_launch_tells_nothing(points: list[dict[int, list[float]]]) -> None:
    assert variances_of(points, 1e-6, 0.004) is None


def test_equal_launches_have_no_variance() -> None:
    assert variances_of([{0: [1.0], 1: [1.0]}], 0.0, 0.0) == Variances(0.0, 0.0, 0.0)


def test_the_variance_of_a_median_is_that_of_many() -> None:
    random = np.random.default_rng(2)
    samples = [random.normal(1, 0.1, 100).tolist() for _ in range(400)]
    seconds = [variance for each in samples if (variance := samples_variance_s(each, 0.01))]
    expected = float(np.var([np.median(each) for each in samples])) * 0.01
    assert float(np.median(seconds)) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("samples_s", [[], [1.0], [1.0, 2.0, 3.0], [0.0] * 5])
def test_few_samples_or_none_tell_no_variance(samples_s: list[float]) -> None:
    assert samples_variance_s(samples_s, 0.01) is None
