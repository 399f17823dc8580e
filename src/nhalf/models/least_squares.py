"""Shared mathematics of the models: non-negative lines and the best division into segments."""

from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve

LAUNCHES_FOR_NOISE_MIN = 3
_MEDIAN_OVER_MEAN_ERROR = 1.2533
_DEVIATION_PER_MAD = 1.4826
NOISE_NEIGHBOURS = 7
NOISE_OUTSTANDING = 3.0
"""A size that is noisier than its surroundings by this factor keeps its own noise."""


def fit_lines(size_bytes: Floats, time_s: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares of T = a + b n with a >= 0 and b >= 0, exact and in closed form.

    `size_bytes` (m,), `time_s` and `weight` (..., m); a weight of 0 leaves a point out. Returns
    a in seconds and b in seconds per byte, both (...,). The problem is convex, so where the free
    optimum violates a bound the answer lies on one of the two bounds (Lawson and Hanson 1974).
    """
    total = weight.sum(-1)
    total = np.where(total > 0, total, 1.0)
    mean_n = (weight * size_bytes).sum(-1) / total
    mean_t = (weight * time_s).sum(-1) / total
    distance = size_bytes - mean_n[..., None]
    spread = (weight * distance**2).sum(-1)
    flat = spread <= 1e-20 * total * np.maximum(mean_n, 1.0) ** 2
    slope = np.where(
        flat,
        0.0,
        (weight * distance * (time_s - mean_t[..., None])).sum(-1) / np.where(flat, 1.0, spread),
    )
    start = mean_t - slope * mean_n
    moment = (weight * size_bytes**2).sum(-1)
    through_zero = (weight * size_bytes * time_s).sum(-1) / np.where(moment > 0, moment, 1.0)
    # Cost of a bound relative to the free optimum: only the comparison of the two matters.
    cost_zero = (weight * (time_s - through_zero[..., None] * size_bytes) ** 2).sum(-1)
    cost_flat = (weight * (time_s - mean_t[..., None]) ** 2).sum(-1)
    broken = (start < 0) | (slope < 0)
    use_zero = broken & (cost_zero < cost_flat)
    use_flat = broken & ~use_zero
    a = np.where(use_zero, 0.0, np.where(use_flat, mean_t, start))
    b = np.where(use_zero, through_zero, np.where(use_flat, 0.0, slope))
    return a, b


_Sums = namedtuple("_Sums", "origin uu uud uudd u ud one")
"""Weighted sums over items, which are points or blocks of neighbouring points, each (m,).

Sizes d are counted from `origin`, the item's first size in bytes; u is a constant over time.
"""


def _sums(
    size_bytes: Floats, time_s: Floats, weight: Floats, starts: NDArray[np.int64] | None = None
) -> _Sums:
    """The sums of every block from one of `starts` to the next, by default of every point; O(n)."""
    u = 1.0 / (time_s / time_s[0])
    if starts is None:
        zero = np.zeros_like(u)
        return _Sums(size_bytes, weight * u * u, zero, zero, weight * u, zero, weight)
    origin = size_bytes[starts]
    d = size_bytes - np.repeat(origin, np.diff(starts, append=size_bytes.size))
    terms = (weight * u * u, weight * u * u * d, weight * (u * d) ** 2, weight * u, weight * u * d)
    return _Sums(origin, *(np.add.reduceat(term, starts) for term in (*terms, weight)))


def _part(sums: _Sums, part: slice) -> _Sums:
    """The sums of some items."""
    return _Sums(*(values[part] for values in sums))


def segment_costs(
    size_bytes: Floats, time_s: Floats, weight: Floats, starts: NDArray[np.int64] | None = None
) -> Floats:
    """Weighted relative misfit of the best non-negative line over blocks i..j, (m, m).

    A block reaches from one of `starts` (m,), ascending from 0, to the next; by default every
    point is one. Entry [i, j] holds sum of weight * (1 - T_model/T)**2, infinite for j < i. Sums
    start at each i with sizes counted from there, so that little is lost to cancellation;
    O(n + m m).
    """
    sums = _sums(size_bytes, time_s, weight, starts)
    count = sums.one.size
    cost = np.full((count, count), np.inf)
    for row in range(count):
        cost[row, row:] = _costs_from(_part(sums, slice(row, None)))
    return cost


def move_breaks(
    size_bytes: Floats,
    time_s: Floats,
    weight: Floats,
    starts: list[int],
    reach: int,
    points_min: int = 2,
) -> list[int]:
    """The starts of segments, each moved by up to `reach` points to where the misfit is least.

    A segment keeps at least `points_min` points, 2 or more. The starts are moved twice from left to
    right, since the best place of a break depends on its neighbours'; O(n).
    """
    moved = list(starts)
    sums = _sums(size_bytes, time_s, weight)
    for number in [*range(1, len(moved)), *range(1, len(moved))]:
        first = moved[number - 1]
        end = moved[number + 1] if number + 1 < len(moved) else size_bytes.size
        low = max(first + points_min, moved[number] - reach)
        high = min(end - points_min, moved[number] + reach)
        if low > high:
            continue
        both_segments = _part(sums, slice(first, end))
        left_costs = _costs_from(both_segments)[low - first - 1 : high - first]
        backwards = _costs_from(_part(both_segments, slice(None, None, -1)))[::-1]
        right_costs = backwards[low - first : high - first + 1]
        moved[number] = low + int(np.argmin(left_costs + right_costs))
    return moved


def misfit_of(size_bytes: Floats, time_s: Floats, weight: Floats, starts: list[int]) -> float:
    """Total misfit of the best lines of some segments, from their residuals: no cancellation."""
    total = 0.0
    for start, end in zip(starts, [*starts[1:], size_bytes.size], strict=True):
        size, time, part = size_bytes[start:end], time_s[start:end], weight[start:end]
        a, b = fit_lines(size, time, part / time**2)
        total += float((part * (1 - (a + b * size) / time) ** 2).sum())
    return total


def _costs_from(sums: _Sums) -> Floats:
    """Misfit of the best line through the first 1, 2, ... items, (m,); sizes may also descend."""
    first = sums.origin[0]
    unit = sums.origin[-1] - first or 1.0
    shift, wide, square = (sums.origin - first) / unit, sums.uud / unit, sums.uudd / unit**2
    sw = np.cumsum(sums.uu)
    sd = np.cumsum(wide + shift * sums.uu)
    sdd = np.cumsum(square + shift * (2 * wide + shift * sums.uu))
    sy = np.cumsum(sums.u)
    sdy = np.cumsum(sums.ud / unit + shift * sums.u)
    syy = np.cumsum(sums.one)
    determinant = sw * sdd - sd * sd
    regular = determinant > 1e-14 * sw * sdd
    safe = np.where(regular, determinant, 1.0)
    slope = np.where(regular, (sw * sdy - sd * sy) / safe, 0.0)
    level = (sy - slope * sd) / sw
    free = syy - level * sy - slope * sdy
    flat = syy - sy * sy / sw
    offset = first / unit
    sx = sdd + 2 * offset * sd + offset * offset * sw
    sxy = sdy + offset * sy
    through_zero = syy - sxy * sxy / np.where(sx > 0, sx, np.inf)
    bounded = np.minimum(flat, through_zero)
    allowed = (slope * unit >= 0) & (level - slope * offset >= 0)
    result: Floats = np.maximum(np.where(allowed, free, bounded), 0.0)
    return result


def best_partitions(cost: Floats, points_min: int, segments_max: int) -> list[NDArray[np.int64]]:
    """For k = 1, 2, ... segments, the starts of the division with the least total cost.

    Dynamic programming over the position of the last break (Bellman 1961), O(k n**2). Every
    segment holds at least `points_min` points; the list ends where this is no longer possible.
    """
    count = cost.shape[0]
    index = np.arange(count)
    allowed = index[None, :] - index[:, None] + 1 >= points_min
    cost = np.where(allowed, cost, np.inf)
    best = cost[0].copy()
    came_from: list[NDArray[np.int64]] = []
    partitions = [np.zeros(1, dtype=np.int64)]
    for _ in range(1, segments_max):
        # previous[i] is the best cost of the points before i
        previous = np.concatenate(([np.inf], best[:-1]))
        candidate = previous[:, None] + cost
        source = candidate.argmin(axis=0)
        best = candidate[source, index]
        if not np.isfinite(best[-1]):
            break
        came_from.append(source)
        partitions.append(_walk_back(came_from, count))
    return partitions


def _walk_back(came_from: list[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """The starts of all segments, from the recorded best positions of the last break."""
    starts: list[int] = []
    end = count - 1
    for source in reversed(came_from):
        starts.append(int(source[end]))
        end = starts[-1] - 1
    return np.array([0, *reversed(starts)], dtype=np.int64)


def point_noise(curve: Curve) -> Floats:
    """Relative standard error of each point's median against its neighbours, (n,).

    A factor common to a whole launch moves the curve and does not blur its shape, so it is removed
    first; the remaining spread over launches is the noise of a point. Zeros if there are too few
    launches and no intervals.
    """
    launches = curve.launch_time_s.shape[0]
    if launches < LAUNCHES_FOR_NOISE_MIN:
        width = (curve.high_s - curve.low_s) / (2 * 1.96 * curve.time_s)
        return np.where(np.isfinite(width), np.maximum(width, 0.0), 0.0)
    ratio = np.log(curve.launch_time_s / curve.time_s)
    factor = nan_median(ratio, axis=1)
    ratio = ratio - factor[:, None]
    distance = np.abs(ratio - nan_median(ratio, axis=0))
    finite_count = np.maximum(np.isfinite(distance).sum(axis=0), 1)
    typical = np.maximum(finite_count, LAUNCHES_FOR_NOISE_MIN)
    # Normal noise; distances are from the median of the same few launches, hence too short.
    to_deviation = _DEVIATION_PER_MAD * typical / (typical - 1.3)
    around = _with_neighbours(distance) * to_deviation
    alone = nan_median(distance, axis=0) * to_deviation
    deviation = np.where(alone > NOISE_OUTSTANDING * around, alone, around)
    # Launches far apart do not average out: the median is then one launch with all its noise.
    near = (np.isfinite(ratio) & (np.abs(factor)[:, None] <= deviation)).sum(axis=0)
    error = deviation * np.minimum(_MEDIAN_OVER_MEAN_ERROR / np.sqrt(np.maximum(near, 1)), 1.0)
    return np.where(np.isfinite(error), error, 0.0)


def _with_neighbours(distance: Floats) -> Floats:
    """Median over launches of each size and its neighbours, (n,): five launches say little."""
    half = NOISE_NEIGHBOURS // 2
    padded = np.pad(distance, ((0, 0), (half, half)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, NOISE_NEIGHBOURS, axis=1)
    return nan_median(np.moveaxis(windows, 1, 0).reshape(distance.shape[1], -1), axis=1)


def nan_median(values: Floats, axis: int) -> Floats:
    """Median that ignores NaN; NaN if there is nothing else. Sorting puts NaN last."""
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)
    finite_count = np.isfinite(ordered).sum(axis=-1)
    low = np.maximum((finite_count - 1) // 2, 0)
    high = np.minimum(finite_count // 2, ordered.shape[-1] - 1)
    pair = np.stack(
        [
            np.take_along_axis(ordered, low[..., None], -1)[..., 0],
            np.take_along_axis(ordered, high[..., None], -1)[..., 0],
        ]
    )
    return np.where(finite_count > 0, pair.mean(axis=0), np.nan)
