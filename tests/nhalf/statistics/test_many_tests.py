"""Many tests at once: how often any holds that should not, and what one launch says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.statistics.many_tests import FALSE_RATE, holm, one_sided

TESTS, LAUNCHES = 100, 5
LEAST = math.log(1.05)


def drawn(random: np.random.Generator, kind: str) -> np.ndarray:
    """Logarithms of ratios at the border: equal means, or equal medians with outliers."""
    noise = random.normal(0, 0.03, (TESTS, LAUNCHES))
    if kind == "spreads":
        noise *= random.uniform(0.2, 5, (TESTS, 1))
    if kind == "outliers":
        hit = random.random((2, TESTS, LAUNCHES)) < 0.1
        noise += 0.3 * hit[0] - 0.3 * hit[1]
    return LEAST + noise


@pytest.mark.parametrize(
    ("kind", "runs"),
    [("normal", 100), *(pytest.param(kind, 400, marks=pytest.mark.full)
                        for kind in ("normal", "spreads", "outliers"))],
)  # fmt: skip
def test_at_the_border_any_holds_in_few_runs(kind: str, runs: int) -> None:
    random = np.random.default_rng(7)
    alarms = sum(
        any(holm(list(one_sided(list(drawn(random, kind)), LEAST)[2]))) for _ in range(runs)
    )
    assert alarms / runs <= 2 * FALSE_RATE


def test_a_large_effect_holds() -> None:
    random = np.random.default_rng(3)
    logs = drawn(random, "normal")
    logs[17] += 0.5
    mean, reach, chance = one_sided(list(logs), LEAST)
    assert [number for number, holds in enumerate(holm(list(chance))) if holds] == [17]
    assert mean[17] - reach[17] > LEAST


def test_few_launches_and_none_that_differ() -> None:
    mean, reach, chance = one_sided([np.array([1.0]), np.array([0.2, 0.2])])
    assert (mean[0], mean[1]) == (1.0, pytest.approx(0.2))
    assert math.isnan(reach[0])
    assert math.isnan(chance[0])
    assert (reach[1], chance[1]) == (0.0, 0.0)
    assert holm(list(chance)) == [False, True]
    assert holm([]) == []
