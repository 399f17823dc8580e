"""Advice that follows from the samples of all launches: drift, two modes, states unseen."""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.statistics.intervals import Floats, student_quantile
from nhalf.store.keys import RUN_CURVE, RUN_POINT

LAUNCHES_LEAST = 5
EFFECT = 0.03
"""States and trends below 3 % do not matter: that is the target precision of intervals."""
SAMPLES_LEAST = 12
"""Fewer samples show no shape: a split or a trend of 3 to 5 numbers is chance."""

SPLIT_SHARE = 0.1
"""The smaller of two states holds at least this share, so that outliers are not a state."""


def split_threshold(count: int | NDArray[np.int64]) -> Floats:
    """Share of the variance that a split must explain for `count` numbers to be two states.

    Two groups always explain much: 64 % of a normal distribution, 75 % of a uniform one, more by
    chance in few numbers. The value lies between the shares that normal and exponential noise
    exceed once in 500 times, by simulation.
    """
    number = np.asarray(count, dtype=np.float64)
    few = 1 - (number - 3) ** 2 / 1000
    return np.where(number < SAMPLES_LEAST, few, 0.8 + 2 / np.maximum(number, 1))


def split(values: Floats) -> tuple[Floats, Floats]:
    """The best split of each row into a low and a high group.

    `values` (rows, n) with NaN only at the end of a row. Returns the share of the variance that
    the split explains (Otsu, A threshold selection method from gray-level histograms, 1979) and
    the distance of the groups' means, both (rows,); 0 for rows without spread.
    """
    if values.shape[1] < 2:
        return np.zeros(len(values)), np.zeros(len(values))
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(ordered)).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = np.nan_to_num(ordered - np.nansum(ordered, axis=1, keepdims=True) / count)
        total = (centred**2).sum(axis=1)
        below = np.arange(1, values.shape[1])[None, :]
        above = count - below
        sums = np.cumsum(centred, axis=1)[:, :-1]
        group_size_min = np.maximum(2, np.ceil(SPLIT_SHARE * count))
        allowed = (below >= group_size_min) & (above >= group_size_min)
        between = np.where(allowed, sums**2 / below + sums**2 / above, 0.0)
        best = between.argmax(axis=1)[:, None]
        share = np.take_along_axis(between, best, axis=1)[:, 0] / total
        low = np.take_along_axis(sums, best, axis=1)[:, 0]
        lower = best[:, 0] + 1
        distance = -low / lower - low / (count[:, 0] - lower)
    spread = (total > 1e-18 * np.maximum(count[:, 0], 1)) & (share > 0)
    return np.where(spread, share, 0.0), np.where(spread, distance, 0.0)


def two_states(times: Floats) -> NDArray[np.bool_]:
    """Whether each row of `times` (rows, n; NaN at the end) falls into two states."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times)
    share, distance = split(np.where(np.isfinite(logs), logs, np.nan))
    count = (~np.isnan(logs)).sum(axis=1)
    states: NDArray[np.bool_] = (
        (share > split_threshold(count))
        & (distance > math.log1p(EFFECT))
        & (count >= LAUNCHES_LEAST)
    )
    return states


TREND_CONFIDENCE = 0.99
"""Confidence for the slope over launches, tested once for a whole curve."""


def trend_signs(times: Floats) -> tuple[Floats, Floats, Floats]:
    """Signs of each row's last third against its first third (Cox and Stuart, Biometrika 1955).

    `times` (rows, n), NaN-padded. Returns per row the number of pairs that rose minus those that
    fell, the number that differ, and the median logarithm of the ratio.
    """
    rows, longest = times.shape
    count = (~np.isnan(times)).sum(axis=1)
    third = count // 3
    place = np.arange(max(longest // 3, 1))[None, :]
    last = np.minimum((count - third)[:, None] + place, longest - 1)
    is_pair = place < third[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times)
        later = np.take_along_axis(logs, last, axis=1)
        change = np.where(is_pair, later - logs[:, : place.shape[1]], np.nan)
    signs = np.nan_to_num(np.sign(change))
    pairs = (~np.isnan(change)).sum(axis=1)
    median_change = np.zeros(rows)
    has_pairs = third > 0
    # Sorting puts NaN last; numpy's own median of such rows is slow.
    ordered, rank = np.sort(change[has_pairs], axis=1), np.arange(int(has_pairs.sum()))
    median_change[has_pairs] = (
        ordered[rank, (pairs[has_pairs] - 1) // 2] + ordered[rank, pairs[has_pairs] // 2]
    ) / 2
    return signs.sum(axis=1), np.abs(signs).sum(axis=1), np.nan_to_num(median_change)


def has_slope(order: Floats, levels: Floats) -> bool:
    """Whether levels (logarithms) rise or fall with their order: Student's test of the slope."""
    count = len(levels)
    if count < LAUNCHES_LEAST:
        return False
    place = order - order.mean()
    slope = float(place @ levels / (place @ place))
    residuals = levels - levels.mean() - slope * place
    error = math.sqrt(float(residuals @ residuals) / (count - 2) / float(place @ place))
    change = abs(slope) * float(np.ptp(order))
    is_significant = abs(slope) > student_quantile(count - 2, TREND_CONFIDENCE) * error
    return bool(is_significant and change > math.log1p(EFFECT))


UNSEEN_LAUNCHES_LEAST = 4
"""Two of three launches are often close together by chance, which proves nothing."""

_COUNTS = (4, 5, 6, 7, 8, 10, 12, 15, 20)
_GAPS = (0.964, 0.895, 0.827, 0.764, 0.717, 0.643, 0.593, 0.544, 0.491)
"""The share of the range that the gap beside the first or last of n normal numbers exceeds
once in 500 times, by simulation of 400,000 sets of each."""


def one_apart(levels: Floats) -> bool:
    """Whether one launch lies apart from all others: Dixon's test on logarithms of times.

    (W. Dixon, Analysis of extreme values, Annals of Mathematical Statistics 21, 1950, 488.) The
    launch must be 3 % from the next one, as with two states.
    """
    if len(levels) < UNSEEN_LAUNCHES_LEAST:
        return False
    gaps = np.diff(np.sort(levels))
    gap = max(float(gaps[0]), float(gaps[-1]))
    share_min = float(np.interp(len(levels), _COUNTS, _GAPS))
    return gap > math.log1p(EFFECT) and gap > share_min * float(gaps.sum())


def unseen_share(launches: int, confidence: float = 0.95) -> float:
    """The largest share of launches in a state that equal launches may all have missed.

    Independent launches miss a state of share q with the probability (1 - q)^n, which is 1 -
    `confidence` for the share returned. Raises nothing; one launch gives `confidence`.
    """
    return float(1 - (1 - confidence) ** (1 / max(1, launches)))


SAMPLES_SEEN = 256
"""Samples examined per launch, evenly spaced: enough for a shape, and cheap for any store."""


TREND_DEVIATIONS = 3.29
"""Normal quantile of a two-sided error of 0.1 % per point."""


def derived(measurements: pl.LazyFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Warnings from the samples: per point, RUN_POINT, `bimodal`, `drift` and `apart`.

    `medians` is the result of `launch_medians` for the same measurements.
    """
    rows = measurements.filter(pl.col("samples_s").list.len() >= SAMPLES_LEAST)
    inside = _inside_launches(rows.select(*RUN_POINT, "samples_s").collect())
    between = _between_launches(medians)
    points = medians.select(RUN_POINT).unique(maintain_order=True)
    joined = points.join(inside, on=RUN_POINT, how="left", nulls_equal=True)
    joined = joined.join(between, on=RUN_CURVE, how="left", nulls_equal=True)
    flag = [pl.col(c).fill_null(False) for c in ("bimodal", "split", "drift", "slope", "apart")]
    bimodal = flag[0] | flag[1]
    drift = (flag[2] & ~flag[0]) | flag[3]
    return joined.select(*RUN_POINT, bimodal=bimodal, drift=drift, apart=flag[4] & ~flag[3])


def _inside_launches(rows: pl.DataFrame) -> pl.DataFrame:
    """Points with `bimodal` and `drift` as detected within launches."""
    blocks = list(_blocks(rows["samples_s"]))
    states = [two_states(block) for block in blocks]
    trends = [trend_signs(block) for block in blocks]
    columns = {
        "states": np.concatenate(states) if states else np.zeros(0, dtype=np.bool_),
        **{
            name: np.concatenate([t[i] for t in trends]) if trends else np.zeros(0)
            for i, name in enumerate(("rises", "pairs", "change"))
        },
    }
    frame = rows.select(RUN_POINT).with_columns(pl.Series(n, v) for n, v in columns.items())
    enough = pl.min_horizontal(pl.len(), pl.lit(2))
    return frame.group_by(RUN_POINT).agg(
        bimodal=pl.col("states").sum() >= enough,
        drift=(pl.col("rises").sum().abs() > TREND_DEVIATIONS * pl.col("pairs").sum().sqrt())
        & (pl.col("change").mean().abs() > math.log1p(EFFECT)),
    )


def _blocks(samples: pl.Series, rows_at_once: int = 256) -> Iterator[Floats]:
    """Lists of samples as matrices (rows, at most SAMPLES_SEEN), thinned evenly, NaN at the end."""
    for start in range(0, len(samples), rows_at_once):
        part = samples.slice(start, rows_at_once)
        length = part.list.len().to_numpy().astype(np.int64)
        flat = part.list.explode(keep_nulls=False, empty_as_null=False).to_numpy()
        width = int(min(length.max(), SAMPLES_SEEN))
        if np.all(length == width):
            yield flat.reshape(-1, width)
            continue
        offset = np.concatenate([[0], np.cumsum(length)[:-1]])
        thinned_length = np.minimum(length, width)
        place = np.arange(width)[None, :]
        index = offset[:, None] + place * length[:, None] // thinned_length[:, None]
        is_filled = place < thinned_length[:, None]
        yield np.where(is_filled, flat[np.where(is_filled, index, 0)], np.nan)


def _between_launches(medians: pl.DataFrame) -> pl.DataFrame:
    """Curves with `split`, `slope` and `apart`, from the level of whole launches.

    These are two states, a trend, and one launch that differs from all others.

    The level of a launch is the median over sizes of the logarithm of its time relative to the
    median launch, so that a disturbance of one size is not attributed to the launch.
    """
    positive = medians.filter(pl.col("median_s") > 0).with_columns(
        level=pl.col("median_s").log() - pl.col("median_s").log().median().over(RUN_POINT)
    )
    levels = (
        positive.group_by([*RUN_CURVE, "launch"])
        .agg(pl.col("level").median())
        .sort([*RUN_CURVE, "launch"])
        .group_by(RUN_CURVE, maintain_order=True)
        .agg("level", number=pl.col("launch").cast(pl.Float64))
    )
    split_: list[bool] = []
    slope: list[bool] = []
    apart: list[bool] = []
    for level, number in zip(levels["level"], levels["number"], strict=True):
        values = level.to_numpy()
        split_.append(bool(two_states(np.exp(values)[None, :])[0]))
        slope.append(has_slope(number.to_numpy(), values))
        apart.append(one_apart(values))
    columns = {"split": split_, "slope": slope, "apart": apart}
    return levels.select(RUN_CURVE).with_columns(
        pl.Series(name, flags, dtype=pl.Boolean) for name, flags in columns.items()
    )
