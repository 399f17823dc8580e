"""Flows share what they pass: by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from nhalf.machines.max_min import max_min


def rates(use: list[list[int]], capacity: list[float], most: list[float]) -> list[float]:
    found = max_min(csr_array(np.array(use, float)), np.array([capacity]), np.array([most]))
    return [float(rate) for rate in found[0]]


@pytest.mark.parametrize(
    ("use", "capacity", "most", "wanted"),
    [
        ([[1]], [5.0], [3.0], [3.0]),
        ([[1]], [2.0], [3.0], [2.0]),
        ([[1, 1]], [2.0], [3.0, 3.0], [1.0, 1.0]),
        ([[1, 1]], [2.0], [0.5, 3.0], [0.5, 1.5]),
        # The textbook's: the second flow is held up at the second link, so the first gets more.
        ([[1, 1, 0], [0, 1, 1]], [2.0, 1.0], [9.0, 9.0, 9.0], [1.5, 0.5, 0.5]),
        ([[2, 1]], [3.0], [9.0, 9.0], [1.0, 1.0]),
        ([[1, 0]], [1.0], [9.0, 4.0], [1.0, 4.0]),
    ],
)
def test_by_hand(
    use: list[list[int]], capacity: list[float], most: list[float], wanted: list[float]
) -> None:
    assert rates(use, capacity, most) == pytest.approx(wanted)


def test_draws_do_not_mind_each_other() -> None:
    use = csr_array(np.ones((1, 2)))
    found = max_min(use, np.array([[2.0], [8.0]]), np.array([[3.0, 3.0], [3.0, 9.0]]))
    assert found == pytest.approx(np.array([[1.0, 1.0], [3.0, 5.0]]))
