# SPDX-License-Identifier: Apache-2.0
"""Every doubt about a number, in one typed list: what it means, what to do, how it was found.

The probe and the launcher report what only they can see (binding, load, clock); the rest is
derived here from the samples. The thresholds are chosen for few false alarms: `nhalf selftest`
shows how often each is raised on plain lognormal noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.errors import unknown
from nhalf.statistics.intervals import Floats, student_quantile
from nhalf.store.keys import RUN_CURVE, RUN_POINT


@dataclass(frozen=True)
class Advice:
    """One kind of doubt."""

    name: str
    what: str
    remedy: str
    detected: str


SAMPLES_SEEN = 256
"""Samples looked at in a launch, evenly spread: enough for a shape, and cheap for any store."""
SAMPLES_LEAST = 12
"""Fewer samples show no shape: a split or a trend of 3 to 5 numbers is chance."""
LAUNCHES_LEAST = 5
SPLIT_SHARE = 0.1
"""The smaller of two states holds at least this share, so that outliers are not a state."""
EFFECT = 0.03
"""States and trends below 3 % do not matter: as precise as intervals are asked to be."""
TREND_DEVIATIONS = 3.29
"""Normal quantile of a two-sided error of 0.1 % per point."""
TREND_CONFIDENCE = 0.99
"""Of the slope over launches, tested once for a whole curve."""
PRECISION_TARGET = 0.03
"""Relative half width of the interval over launches that a default run aims at."""

ADVICES = (
    Advice(
        "unpinned",
        "ranks were free to move between cores",
        "bind each rank to a core of its own (the default), or look why binding was refused",
        "the allowed cores of each rank, read from inside the rank, are more than one",
    ),
    Advice(
        "oversubscribed",
        "ranks shared a core and waited for each other",
        "use at most as many ranks as there are cores",
        "the allowed cores of two ranks on one host are the same single core, or ranks outnumber "
        "cores",
    ),
    Advice(
        "misplaced",
        "ranks were not on the hosts or cores that the placement asked for",
        "let nhalf place them: start it without a binding or host list of your own",
        "host and allowed cores of each rank, read from inside the rank, are not those asked for",
    ),
    Advice(
        "moved",
        "ranks were on other hosts than in the first launch",
        "go on with the hosts of the beginning, or begin another run",
        "the hosts of all ranks, read from inside, are not those of the first launch of the run",
    ),
    Advice(
        "shared-cores",
        "the hosts are those of a lab and share the cores of one machine",
        "take rates of shaped links from a lab, and times of messages from a real cluster",
        "the run was started by `nhalf lab exec`",
    ),
    Advice(
        "mixed-networks",
        "ranks talked through different networks",
        "tell the library which network to use, and look why some hosts lack it",
        "interfaces of open connections to other hosts and open network devices, read from inside "
        "each rank, have nothing in common",
    ),
    Advice(
        "slow-network",
        "ranks talked through TCP though the hosts have a faster network",
        "look which transport the library chose, and whether its drivers are installed",
        "no rank has a device of the fast network open, and connections to other hosts are open",
    ),
    Advice(
        "timer-coarse",
        "a sample is short compared with what the clock can resolve",
        "use a longer time per sample",
        "a batch that is shorter than the demanded multiple of clock resolution and overhead",
    ),
    Advice(
        "clocks-unsure",
        "the ranks' clocks may be wrong by more than half of the time that was measured",
        "look at start=barrier or start=rotating beside it, and leave the machine to itself",
        "the uncertainty of the synchronised clocks, which the probe states",
    ),
    Advice(
        "late-starts",
        "no start was on time at all ranks, so the times hold how far apart they began",
        "use at most as many ranks as there are cores, and leave the machine to itself",
        "ranks learned of every common start when its time had passed",
    ),
    Advice(
        "bimodal",
        "the times fall into two states, and the value may lie in one of them or between",
        "look for what switches (clock speed, a neighbour, placement): fix the clock speed, "
        "leave the machine alone, or measure more launches",
        "the best split into two groups, each at least a tenth, explains more of the variance of "
        "the logarithms (Otsu 1979) than noise without states does, and the groups are 3 % apart; "
        "in at least two launches, or between launches over the whole curve",
    ),
    Advice(
        "drift",
        "times rise or fall while measuring",
        "let the machine warm up or cool down, or measure when it is idle",
        "within launches: signs of last against first third (Cox and Stuart 1955), beyond 3.29 "
        "deviations; between launches: slope of the curve's level, 99 % by Student; above 3 %",
    ),
    Advice(
        "imprecise",
        "the interval is wider than the 3 % that a run aims at",
        "give it more time (--budget) or more launches (--launches)",
        "relative half width of the interval over launches",
    ),
    Advice(
        "one-launch",
        "one launch cannot show how much launches differ",
        "measure at least five launches (--launches 5)",
        "the number of launches",
    ),
    Advice(
        "imported",
        "a mean that another program printed, without samples",
        "measure the point with nhalf: how much it varies cannot be known from a mean",
        "the point comes from the log of another suite (nhalf import)",
    ),
    Advice(
        "unverified",
        "data did not arrive as sent: the time is of no value",
        "report it to the makers of the library, and do not use the number",
        "every pattern checks its data before it is timed; all ranks must agree",
    ),
)


def advice(name: str) -> Advice:
    """The advice of a name; raises InputError for a name that is not in the list."""
    for known in ADVICES:
        if known.name == name:
            return known
    raise unknown("advice", name, [known.name for known in ADVICES])


def split_threshold(count: int | NDArray[np.int64]) -> Floats:
    """Share of the variance that a split must explain before `count` numbers count as two states.

    Two groups always explain much: 64 % of a normal distribution, 75 % of a uniform one, more by
    chance in few numbers. The value lies between what normal and exponential noise exceed once in
    500 times, by simulation.
    """
    number = np.asarray(count, dtype=np.float64)
    few = 1 - (number - 3) ** 2 / 1000
    return np.where(number < SAMPLES_LEAST, few, 0.8 + 2 / np.maximum(number, 1))


def split(values: Floats) -> tuple[Floats, Floats]:
    """The best split of each row into a low and a high group.

    `values` (rows, n) with NaN only at the end of a row. Returns the share of the variance that
    the split explains (Otsu, A threshold selection method from gray-level histograms, 1979) and
    the distance of the groups' means, both (rows,); 0 where the row has no spread.
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
        least = np.maximum(2, np.ceil(SPLIT_SHARE * count))
        allowed = (below >= least) & (above >= least)
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
    with np.errstate(divide="ignore"):
        logs = np.log(times)
    share, distance = split(np.where(np.isfinite(logs), logs, np.nan))
    count = (~np.isnan(logs)).sum(axis=1)
    states: NDArray[np.bool_] = (
        (share > split_threshold(count))
        & (distance > math.log1p(EFFECT))
        & (count >= LAUNCHES_LEAST)
    )
    return states


def trend_signs(times: Floats) -> tuple[Floats, Floats, Floats]:
    """Signs of each row's last third against its first third (Cox and Stuart, Biometrika 1955).

    `times` (rows, n), NaN where a row is shorter. Returns per row how many pairs rose less how
    many fell, how many differ, and the median logarithm of the ratio.
    """
    rows, longest = times.shape
    count = (~np.isnan(times)).sum(axis=1)
    third = count // 3
    place = np.arange(max(longest // 3, 1))[None, :]
    last = np.minimum((count - third)[:, None] + place, longest - 1)
    here = place < third[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(times)
        later = np.take_along_axis(logs, last, axis=1)
        change = np.where(here, later - logs[:, : place.shape[1]], np.nan)
    signs = np.nan_to_num(np.sign(change))
    seen = (~np.isnan(change)).sum(axis=1)
    middle = np.zeros(rows)
    some = third > 0
    # Sorting puts what is missing last; numpy's own median of such rows is slow.
    ordered, rank = np.sort(change[some], axis=1), np.arange(int(some.sum()))
    middle[some] = (ordered[rank, (seen[some] - 1) // 2] + ordered[rank, seen[some] // 2]) / 2
    return signs.sum(axis=1), np.abs(signs).sum(axis=1), np.nan_to_num(middle)


def derived(measurements: pl.LazyFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """What the samples themselves give away: one row per point, RUN_POINT, `bimodal` and `drift`.

    `medians` is the result of `launch_medians` for the same measurements.
    """
    rows = measurements.filter(pl.col("samples_s").list.len() >= SAMPLES_LEAST)
    inside = _inside_launches(rows.select(*RUN_POINT, "samples_s").collect())
    between = _between_launches(medians)
    points = medians.select(RUN_POINT).unique(maintain_order=True)
    joined = points.join(inside, on=RUN_POINT, how="left", nulls_equal=True)
    joined = joined.join(between, on=RUN_CURVE, how="left", nulls_equal=True)
    flag = [pl.col(c).fill_null(False) for c in ("bimodal", "split", "drift", "slope")]
    return joined.select(
        *RUN_POINT, bimodal=flag[0] | flag[1], drift=(flag[2] & ~flag[0]) | flag[3]
    )


def _inside_launches(rows: pl.DataFrame) -> pl.DataFrame:
    """Points with `bimodal` and `drift` as seen within launches."""
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
        taken = np.minimum(length, width)
        place = np.arange(width)[None, :]
        index = offset[:, None] + place * length[:, None] // taken[:, None]
        here = place < taken[:, None]
        yield np.where(here, flat[np.where(here, index, 0)], np.nan)


def _between_launches(medians: pl.DataFrame) -> pl.DataFrame:
    """Curves with `split` and `slope`: states or a trend in the level of whole launches.

    The level of a launch is the median over sizes of the logarithm of its time relative to the
    median launch, so that what one size does is not taken for what the launch did.
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
    for level, number in zip(levels["level"], levels["number"], strict=True):
        values = level.to_numpy()
        split_.append(bool(two_states(np.exp(values)[None, :])[0]))
        slope.append(has_slope(number.to_numpy(), values))
    return levels.select(RUN_CURVE).with_columns(
        pl.Series("split", split_, dtype=pl.Boolean), pl.Series("slope", slope, dtype=pl.Boolean)
    )


def has_slope(order: Floats, levels: Floats) -> bool:
    """Whether levels (logarithms) rise or fall with their order: Student's test of the slope."""
    count = len(levels)
    if count < LAUNCHES_LEAST:
        return False
    place = order - order.mean()
    slope = float(place @ levels / (place @ place))
    rest = levels - levels.mean() - slope * place
    error = math.sqrt(float(rest @ rest) / (count - 2) / float(place @ place))
    change = abs(slope) * float(np.ptp(order))
    sure = abs(slope) > student_quantile(count - 2, TREND_CONFIDENCE) * error
    return bool(sure and change > math.log1p(EFFECT))
