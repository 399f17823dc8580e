"""The family of a night's curves: the step-up procedure of Benjamini and Hochberg."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.family import FALSE_ALARMS, family_error


@pytest.mark.parametrize(
    ("probabilities", "members"),
    [
        ([], 1),
        ([1.0], 1),
        ([0.001], 1),
        ([1.0, 1.0, 1.0, 1.0], 1),
        ([0.001, 1.0, 1.0, 1.0], 1),
        ([0.015, 0.015, 0.015, 0.015], 4),
        ([0.001, 0.01, 1.0, 1.0], 2),
        ([0.001, 0.011, 1.0, 1.0], 1),
        # The second is too large by itself, and is reported because the third is small enough.
        ([0.001, 0.0145, 0.0149, 1.0], 3),
    ],
)
def test_the_largest_number_that_holds_is_reported(
    probabilities: list[float], members: int
) -> None:
    error = family_error(probabilities)
    assert error == pytest.approx(FALSE_ALARMS * members / max(len(probabilities), 1))


def test_without_a_change_the_rate_is_that_of_any_alarm() -> None:
    random = np.random.default_rng(1)
    alarms = [(p := random.random(10)).min() <= family_error(p.tolist()) for _ in range(4000)]
    assert np.mean(alarms) == pytest.approx(FALSE_ALARMS, abs=0.008)
