"""Periodic steps of time on a fine grid of sizes: messages that travel in packets."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model
from nhalf.models.line import check_curve, check_range

SIZES_MIN = 48
STEPS_MIN = 4
"""Fewer steps do not show that they are periodic."""
PERIOD_POINTS_MIN = 4
PERIOD_POINTS_MAX = 2048
"""Packets of up to 2 KiB in steps of a byte; longer periods show on a coarser grid as well."""
LOG_CHANCE_MAX = math.log(1e-6)
"""Steps are reported when white noise would show as much, anywhere, less often than this."""
STEP_SHARE_MIN = 0.3
STEPS_AGREEING_MIN = 0.8
"""At least this share of the steps must each rise by STEP_SHARE_MIN of the common height."""
SHARPNESS_MIN = 5.0
"""The rise at the steps, in standard deviations of the rise at other places of the period."""
GAIN_MIN = 1e-9
"""Share of the variance that steps must explain beyond what rounding does."""


@dataclass(frozen=True)
class PacketSteps(Model):
    """A line with a step of equal height at offset + i period bytes, i = 0, 1, 2, ...

    `period_bytes` and `offset_bytes` are None and `height_s` is 0 if no steps were found.
    `offset_bytes` is the first size that is slower, so the packet before it is full; it lies in
    1..period. `height_ci` is the 95 % interval of the height in seconds.
    """

    what = "a line with equal steps at equal distances: full packets on the wire"
    formula = "T(n) = t0 + n c + h (1 + floor((n - offset)/period))"
    source = (
        "steps by K. Qian's fine grid (2004); search over all periods and offsets as in "
        "P. Bloomfield, Fourier Analysis of Time Series (2000), with a saw tooth for the sine"
    )

    from_bytes: float
    to_bytes: float
    t0_s: float
    per_byte_s: float
    period_bytes: int | None = None
    offset_bytes: int | None = None
    height_s: float = 0.0
    height_ci: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def fit(cls, curve: Curve) -> Self:
        """The steps of the evenly spaced part of a curve; the plain line where there are none.

        Raises InputError for a curve that has no sizes or times that are not positive.
        """
        check_curve(curve)
        part = _fine_part(curve.size_bytes)
        size, time = curve.size_bytes[part], curve.time_s[part]
        steps = _search(size, time) if size.size >= SIZES_MIN else None
        if steps is None:
            slope, start = np.polyfit(size, time, 1) if size.size > 1 else (0.0, time[0])
            return cls(float(size[0]), float(size[-1]), float(start), float(slope))
        period, offset = steps
        count = _steps_before(size, period, offset)
        (start, slope, height), error = _regress(np.stack([np.ones_like(size), size, count]), time)
        reach = 1.96 * error[2]
        return cls(
            float(size[0]),
            float(size[-1]),
            float(start),
            float(slope),
            period,
            offset,
            float(height),
            (float(height - reach), float(height + reach)),
        )

    def predict_s(self, size_bytes: Floats) -> Floats:
        """Times in seconds, same shape; raises InputError beyond the sizes fitted."""
        size = check_range(size_bytes, self.from_bytes, self.to_bytes)
        line = self.t0_s + size * self.per_byte_s
        if self.period_bytes is None or self.offset_bytes is None:
            return line
        return line + self.height_s * _steps_before(size, self.period_bytes, self.offset_bytes)


def _fine_part(size_bytes: Floats) -> slice:
    """The longest run of evenly spaced sizes, the finer one among equals."""
    gaps = np.diff(size_bytes)
    if gaps.size == 0:
        return slice(0, size_bytes.size)
    edges = np.flatnonzero(np.diff(gaps) != 0) + 1
    starts = np.concatenate(([0], edges))
    ends = np.concatenate((edges, [gaps.size]))
    best = int(np.argmax(ends - starts))
    return slice(int(starts[best]), int(ends[best]) + 1)


def _steps_before(size_bytes: Floats, period: int, offset: int) -> Floats:
    """The number of steps at or below each size."""
    count: Floats = 1.0 + np.floor((size_bytes - offset) / period)
    return count


def _search(size_bytes: Floats, time_s: Floats) -> tuple[int, int] | None:
    """Period and offset of the steps that explain the most; None if chance explains as much."""
    stride = int(size_bytes[1] - size_bytes[0])
    line = np.stack([np.ones_like(size_bytes), size_bytes - size_bytes.mean()])
    line /= np.linalg.norm(line, axis=1)[:, None]
    residuals = time_s - line.T @ (line @ time_s)
    # Twice: the first projection leaves rounding errors of the large start-up time.
    residuals -= line.T @ (line @ residuals)
    total = float(residuals @ residuals)
    if total <= (1e-13 * float(time_s.max())) ** 2 * size_bytes.size:
        return None
    longest = min(int((size_bytes[-1] - size_bytes[0]) // STEPS_MIN), PERIOD_POINTS_MAX * stride)
    position = np.arange(size_bytes.size)
    best, trials, best_step = 0.0, 0, (0, 0)
    for period in range(PERIOD_POINTS_MIN * stride, longest + 1, stride):
        gain = _gains(position, residuals, line, period // stride)
        trials += gain.size
        phase = int(gain.argmax())
        if gain[phase] > best:
            best, best_step = float(gain[phase]), (period, phase * stride)
    period, phase = best_step
    if period == 0 or not _is_beyond_chance(best / total, size_bytes.size, trials):
        return None
    first = int(size_bytes[0]) + phase
    offset = (first - 1) % period + 1
    steps = (period, offset)
    agree = _steps_agree(size_bytes, time_s, *steps) and _is_sharp(size_bytes, time_s, *steps)
    return steps if agree else None


def _gains(position: NDArray[np.int64], residuals: Floats, line: Floats, count: int) -> Floats:
    """Sum of squares that steps of a period explain beyond the line, for each phase, (count,).

    `position` (n,) counts the evenly spaced sizes, `count` those in a period. Rising steps are a
    line minus a saw tooth, so only the tooth is fitted. Its products with the data depend on sizes
    modulo the period alone: one folding serves all phases, which are one circular correlation.
    """
    within = position % count
    fold: Floats = np.stack(
        [np.bincount(within, weights=values).astype(np.float64) for values in (residuals, *line)]
    )
    held = np.bincount(within).astype(np.float64)
    tooth = np.arange(count) / count
    with_residuals, with_one, with_size = _correlated(fold, tooth)
    free = _correlated(held, tooth**2) - with_one**2 - with_size**2
    rising = with_residuals < 0
    gain: Floats = np.where(rising & (free > 1e-9), with_residuals**2 / np.maximum(free, 1e-9), 0.0)
    return gain


def _correlated(values: Floats, tooth: Floats) -> Floats:
    """Sum over j of values[..., j] tooth[(j - i) mod count] for every phase i, (..., count)."""
    spectrum = np.fft.rfft(values) * np.conj(np.fft.rfft(tooth))
    result: Floats = np.fft.irfft(spectrum, tooth.size)
    return result


def _is_beyond_chance(share: float, count: int, trials: int) -> bool:
    """Whether white noise would give this share of variance in any trial only very rarely.

    The share r2 of one regressor gives Student's t; Bonferroni over all trials.
    """
    if share < GAIN_MIN:
        return False
    free = count - 5
    t = math.sqrt(free * share / max(1.0 - share, 1e-15))
    return float(log_ndtr(-t)) + math.log(max(trials, 1)) < LOG_CHANCE_MAX


def _steps_agree(size_bytes: Floats, time_s: Floats, period: int, offset: int) -> bool:
    """Whether each step lies where the period says, and all rise by about the same time.

    A single jump, a bend or a wave also resembles steps of some period as a whole, but not step
    by step.
    """
    number = np.floor((size_bytes - offset) / period)
    heights = []
    for step in range(int(number[0]) + 1, int(number[-1]) + 1):
        middle = offset + step * period
        near = slice(
            np.searchsorted(size_bytes, middle - period / 2),
            np.searchsorted(size_bytes, middle + period / 2, side="right"),
        )
        after = (number[near] >= step).astype(np.float64)
        if min(after.sum(), after.size - after.sum()) < 2:
            continue
        columns = np.stack([np.ones(after.size), size_bytes[near] - size_bytes[near][0], after])
        (_, _, height), _ = _regress(columns, time_s[near])
        heights.append(float(height))
    if len(heights) < STEPS_MIN - 1:
        return False
    common = float(np.median(heights))
    agreeing = np.mean(np.array(heights) >= STEP_SHARE_MIN * common)
    alike = float(np.mean(heights)) <= 2 * common
    return common > 0 and bool(agreeing >= STEPS_AGREEING_MIN) and alike


def _is_sharp(size_bytes: Floats, time_s: Floats, period: int, offset: int) -> bool:
    """Whether time rises at the steps far more than a stretch of the same length elsewhere does.

    All periods are laid over each other. Waves, wandering and correlated noise also fit a saw
    tooth, but rise as much at other places; white noise at other places is the yardstick.
    """
    stride = int(size_bytes[1] - size_bytes[0])
    count = period // stride
    slope, start = np.polyfit(size_bytes, time_s, 1)
    place = np.floor((size_bytes - offset) % period / stride).astype(np.int64)
    held = np.maximum(np.bincount(place, minlength=count), 1)
    folded = np.bincount(place, time_s - start - slope * size_bytes, minlength=count) / held
    width = max(1, count // 16)
    around = np.concatenate((folded, folded))
    sums = np.concatenate(([0.0], np.cumsum(around)))
    after = (sums[width : width + count] - sums[:count]) / width
    rise = after - np.roll(after, width)
    index = np.arange(count)
    elsewhere = np.minimum(index, count - index) >= width
    other_rises = rise[elsewhere]
    if other_rises.size < 2:
        return True
    usual = float(np.median(other_rises))
    spread = math.sqrt(float(np.mean((other_rises - usual) ** 2)))
    return bool(rise[0] - usual >= SHARPNESS_MIN * spread)


def _regress(columns: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Least squares of values on columns (p, n): coefficients and standard errors, each (p,)."""
    scale = np.maximum(np.abs(columns).max(axis=1), 1e-300)
    matrix = (columns / scale[:, None]).T
    solution, _, _, _ = np.linalg.lstsq(matrix, values, rcond=None)
    residuals = values - matrix @ solution
    variance = float(residuals @ residuals) / max(values.size - columns.shape[0], 1)
    spread: NDArray[np.float64] = np.sqrt(variance * np.diag(np.linalg.pinv(matrix.T @ matrix)))
    return solution / scale, spread / scale
