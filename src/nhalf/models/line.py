"""One line over a range of sizes, its checks, and the intervals of its parameters."""

import math
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.models.forms import Curve
from nhalf.models.least_squares import fit_lines
from nhalf.statistics.intervals import launch_intervals

LAUNCHES_MIN = 2
"""A single launch says nothing about the next one, so it gives no interval."""
ROUNDING = 1e-12
"""Relative error of the arithmetic: an interval without noise is that wide."""
_CONFIDENCE = 0.95

Range = tuple[float, float]


@dataclass(frozen=True)
class FittedPiece:
    """One line: valid from the first to the last measured size in it.

    `t0_s` seconds, `per_byte_s` = 1/r_inf in seconds per byte; both are never negative.
    """

    from_bytes: float
    to_bytes: float
    t0_s: float
    per_byte_s: float

    @property
    def r_inf_Bps(self) -> float:
        """Asymptotic rate in bytes per second; infinite if time does not grow with size."""
        return 1.0 / self.per_byte_s if self.per_byte_s > 0 else math.inf

    @property
    def n_half_bytes(self) -> float:
        """Size that reaches half of r_inf; infinite if r_inf is."""
        return self.t0_s / self.per_byte_s if self.per_byte_s > 0 else math.inf

    def at(self, size_bytes: float) -> float:
        """Seconds for a size, also beyond the line's ends."""
        return self.t0_s + size_bytes * self.per_byte_s


@dataclass(frozen=True)
class PieceIntervals:
    """95 % intervals (low, high) of a line's parameters, each holding the fitted value."""

    t0_s: Range
    r_inf_Bps: Range
    n_half_bytes: Range


def check_curve(curve: Curve) -> None:
    """Raise InputError unless the curve has sizes that increase and finite positive times."""
    size, time = curve.size_bytes, curve.time_s
    if size.size == 0:
        raise InputError("there is nothing to fit", "measure at least one size")
    if not (np.all(np.isfinite(size)) and np.all(size >= 0) and np.all(np.diff(size) > 0)):
        raise InputError("sizes must increase and must not be negative", "sort the curve first")
    if not (np.all(np.isfinite(time)) and np.all(time > 0)):
        raise InputError("times must be positive numbers", "leave out points that failed")


def check_range(size_bytes: Floats, low: float, high: float) -> Floats:
    """The sizes as an array; raises InputError if one lies outside low..high."""
    size = np.asarray(size_bytes, dtype=np.float64)
    if size.size and not bool(np.all((size >= low) & (size <= high))):
        message = f"the model covers {low:.0f} to {high:.0f} bytes only"
        raise InputError(message, "measure the sizes in question; a model does not extrapolate")
    return size


def fit_piece(curve: Curve, weight: Floats, part: slice) -> FittedPiece:
    """The line through some neighbouring points with least weighted relative error."""
    size, time = curve.size_bytes[part], curve.time_s[part]
    a, b = fit_lines(size, time, weight[part] / time**2)
    return FittedPiece(float(size[0]), float(size[-1]), float(a), float(b))


def piece_intervals(curve: Curve, piece: FittedPiece) -> PieceIntervals | None:
    """Intervals of a line's parameters for its range of sizes; None for a single launch.

    Every launch is fitted alone and the interval is that of launches (statistics/intervals.py):
    a repetition would differ as launches do.
    """
    part = (curve.size_bytes >= piece.from_bytes) & (curve.size_bytes <= piece.to_bytes)
    size, rows = curve.size_bytes[part], curve.launch_time_s[:, part]
    enough = np.isfinite(rows).sum(axis=1) >= min(2, size.size)
    if int(enough.sum()) < LAUNCHES_MIN:
        return None
    is_finite = np.isfinite(rows[enough])
    filled = np.where(is_finite, rows[enough], 1.0)
    a, b = fit_lines(size, filled, np.where(is_finite, 1.0 / filled**2, 0.0))
    parameters = np.stack([a, b, *_half_sizes(a, b)])
    _, low, high = launch_intervals(parameters, _CONFIDENCE)
    return _with_fitted(piece, low, high)


def _half_sizes(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """n_half and 1/n_half: at least one is finite whichever parameter is 0, the other is NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        direct, inverse = a / b, b / a
    usable = bool(np.all(b > 0)) and bool(np.all(np.isfinite(direct)))
    return (direct if usable else np.full_like(a, np.nan)), (
        inverse if np.all(np.isfinite(inverse)) else np.full_like(a, np.nan)
    )


def _with_fitted(piece: FittedPiece, low: Floats, high: Floats) -> PieceIntervals:
    """Intervals from those of t0, 1/r_inf, n_half and 1/n_half, stretched to the fitted values."""
    t0 = _holding(float(low[0]), float(high[0]), piece.t0_s)
    rate = _holding(_inverse(float(high[1])), _inverse(float(low[1])), piece.r_inf_Bps)
    if math.isfinite(low[2]):
        half = float(low[2]), float(high[2])
    elif math.isfinite(low[3]):
        half = _inverse(float(high[3])), _inverse(float(low[3]))
    else:
        half = t0[0] * rate[0], math.inf
    return PieceIntervals(t0, rate, _holding(*half, piece.n_half_bytes))


def _inverse(value: float) -> float:
    return 1.0 / value if value > 0 else math.inf


def _holding(low: float, high: float, value: float) -> Range:
    """The interval, stretched to hold a value (a median between two states) and its rounding."""
    return min(low, value) * (1 - ROUNDING), max(high, value) * (1 + ROUNDING)
