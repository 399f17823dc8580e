"""Held-out errors judge every inner size once, on a model that has not seen it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nhalf.models.forms import Curve, Model
from nhalf.models.forms.linear import Linear
from nhalf.models.forms.segmented import Segmented
from nhalf.models.heldout import heldout_errors


def curve_of(size_bytes, time_s):
    size, time = np.asarray(size_bytes, dtype=float), np.asarray(time_s, dtype=float)
    return Curve(size, time, time, time, time[None, :])


@dataclass(frozen=True)
class Memory(Model):
    """Knows exactly the sizes that it was given, and says 2 s for all others."""

    what: ClassVar[str] = "a list"
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    known: dict[float, float]

    @classmethod
    def fit(cls, curve):
        assert curve.size_bytes[0] == 0
        assert curve.size_bytes[-1] == 19
        return cls(dict(zip(curve.size_bytes, curve.time_s, strict=True)))

    def predict_s(self, size_bytes):
        return np.array([self.known.get(size, 2.0) for size in size_bytes])


def test_no_size_is_judged_by_a_model_that_saw_it():
    errors = heldout_errors(Memory, curve_of(np.arange(20), np.ones(20)))
    np.testing.assert_array_equal(errors, np.ones(18))


def test_a_line_has_no_error():
    size = 2.0 ** np.arange(20)
    errors = heldout_errors(Linear, curve_of(size, 1e-6 + size * 1e-10))
    assert errors.shape == (18,)
    assert errors.max() < 1e-9


@pytest.mark.parametrize(("count", "judged"), [(1, 0), (2, 0), (3, 0), (4, 2), (5, 3)])
def test_few_sizes(count, judged):
    size = np.arange(float(count))
    assert heldout_errors(Segmented, curve_of(size, 1e-6 + size * 1e-9)).shape == (judged,)
