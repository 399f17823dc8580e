"""Closed forms and the division into segments, against slow and obvious computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from nhalf.models.forms import Curve
from nhalf.models.least_squares import (
    best_partitions,
    fit_lines,
    nan_median,
    point_noise,
    segment_costs,
)

times = st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=8)


def misfit(size, time, weight):
    """Weighted relative misfit of the non-negative line, by an iterative solver."""
    root = np.sqrt(weight)
    matrix = np.stack([root / time, root * size / time], axis=1)
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    _, residual = nnls(matrix / scale, root)
    return residual**2


@settings(deadline=None, max_examples=200)
@given(times, st.integers(0, 3))
def test_lines_and_costs_agree_with_an_iterative_solver(values, first):
    time = np.array(values)
    size = first + np.arange(time.size) ** 3.0
    weight = np.linspace(0.5, 2, time.size)
    cost = segment_costs(size, time, weight)
    for i, j in itertools.combinations(range(time.size), 2):
        part = slice(i, j + 1)
        expected = misfit(size[part], time[part], weight[part])
        assert cost[i, j] == pytest.approx(expected, rel=1e-5, abs=1e-9)
        a, b = fit_lines(size[part], time[part], weight[part] / time[part] ** 2)
        assert a >= 0
        assert b >= 0
        own = (weight[part] * (1 - (a + b * size[part]) / time[part]) ** 2).sum()
        assert own == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_lines_of_many_rows_equal_those_of_each():
    random = np.random.default_rng(1)
    size, rows = np.arange(6.0), random.uniform(1, 2, (5, 6))
    a, b = fit_lines(size, rows, 1 / rows**2)
    for k in range(5):
        single = fit_lines(size, rows[k], 1 / rows[k] ** 2)
        assert (a[k], b[k]) == pytest.approx([float(x) for x in single], rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_division_is_the_best_of_all(seed):
    random = np.random.default_rng(seed)
    size, time = np.arange(9.0), random.uniform(1, 3, 9)
    cost = segment_costs(size, time, np.ones(9))
    partitions = best_partitions(cost, 2, 4)
    assert len(partitions) == 4
    for count, starts in enumerate(partitions, start=1):
        every = [
            sum(cost[s, e - 1] for s, e in itertools.pairwise([0, *cut, 9]))
            for cut in itertools.combinations(range(1, 9), count - 1)
            if min(np.diff([0, *cut, 9])) >= 2
        ]
        own = sum(cost[s, e - 1] for s, e in itertools.pairwise([*starts, 9]))
        assert own == pytest.approx(min(every), rel=1e-12)


def test_median_leaves_nan_out():
    nan = np.nan
    values = np.array([[1.0, nan, nan], [3.0, 2.0, nan], [8.0, 4.0, nan]])
    np.testing.assert_array_equal(nan_median(values, axis=0), [3.0, 3.0, nan])


def noise_of(rows):
    median = np.median(rows, axis=0)
    return point_noise(Curve(np.arange(rows.shape[1]) + 0.0, median, median, median, rows))


def test_a_size_that_stands_out_keeps_its_own_noise():
    rows = np.exp(0.01 * np.random.default_rng(1).standard_normal((5, 40)))
    rows[:, 20] = [1.0, 1.5, 0.6, 2.0, 0.5]
    noise = noise_of(rows)
    assert noise[20] > 10 * np.median(noise)
    assert np.delete(noise, 20).max() < 0.02


def test_launches_far_apart_do_not_average_the_noise_out():
    rows = np.exp(0.01 * np.random.default_rng(1).standard_normal((5, 400)))
    together = np.median(noise_of(rows))
    apart = np.median(noise_of(rows * np.array([1.0, 2.0, 3.0, 4.0, 5.0])[:, None]))
    assert together == pytest.approx(0.0056, rel=0.2)
    assert apart == pytest.approx(0.01, rel=0.2)
