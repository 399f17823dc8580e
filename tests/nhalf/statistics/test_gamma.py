"""Digamma and its derivatives against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from nhalf.statistics.gamma import digamma, tetragamma, trigamma

X = np.array([0.01, 0.5, 1.0, 2.5, 7.0, 50.0, 1e5])


def test_they_are_those_of_scipy() -> None:
    assert digamma(X) == pytest.approx(special.digamma(X), rel=1e-9)
    assert trigamma(X) == pytest.approx(special.polygamma(1, X), rel=1e-9)
    assert tetragamma(X) == pytest.approx(special.polygamma(2, X), rel=1e-9)
    assert float(digamma(2.5)) == pytest.approx(float(special.digamma(2.5)))
