"""Hockney's model: one line over all sizes. The simplest model, to compare others with."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model
from nhalf.models.line import FittedPiece, check_curve, check_range, fit_piece


@dataclass(frozen=True)
class Linear(Model):
    """One start-up time and one rate for all sizes, fitted by least relative error."""

    what = "one line of start-up time and rate over all sizes"
    formula = "T(n) = t0 + n/r_inf, n_half = t0 r_inf"
    source = "R. Hockney, Parallel Computing 20 (1994) 389"

    piece: FittedPiece

    @classmethod
    def fit(cls, curve: Curve) -> Self:
        """The best line through one or more sizes; raises InputError for a bad curve."""
        check_curve(curve)
        return cls(fit_piece(curve, np.ones_like(curve.time_s), slice(None)))

    def predict_s(self, size_bytes: Floats) -> Floats:
        """Times in seconds, same shape; raises InputError beyond the sizes fitted."""
        size = check_range(size_bytes, self.piece.from_bytes, self.piece.to_bytes)
        return self.piece.t0_s + size * self.piece.per_byte_s
