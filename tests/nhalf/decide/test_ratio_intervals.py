# SPDX-License-Identifier: Apache-2.0
"""The interquartile mean of sizes, the level of comparisons and of histories."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.ratio_intervals import interquartile_mean


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0], 7.0),
        ([1.0, 2.0, 9.0], 4.0),
        ([100.0, 2.0, 3.0, -50.0], 2.5),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 800.0], 4.5),
    ],
)
def test_a_quarter_at_either_end_does_not_count(values: list[float], expected: float) -> None:
    assert interquartile_mean(np.array(values)) == pytest.approx(expected)


def test_every_launch_has_its_own_mean() -> None:
    launches = np.array([[4.0, 1.0, 2.0, 3.0], [40.0, 10.0, 30.0, 20.0]])
    assert interquartile_mean(launches).tolist() == [2.5, 25.0]
