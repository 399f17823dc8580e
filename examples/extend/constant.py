# SPDX-License-Identifier: Apache-2.0
"""A message costs the same whatever its size: true below a few hundred bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model


@dataclass(frozen=True)
class Constant(Model):
    """One time for all sizes: the median of the times."""

    what: ClassVar[str] = "one time for all sizes"
    formula: ClassVar[str] = "T(n) = t0"
    source: ClassVar[str] = "none is needed"

    t0_s: float

    @classmethod
    def fit(cls, curve: Curve) -> Self:
        """The median time of the curve."""
        return cls(float(np.median(curve.time_s)))

    def predict_s(self, size_bytes: Floats) -> Floats:
        """The same time in seconds for every size."""
        return np.full_like(size_bytes, self.t0_s)
