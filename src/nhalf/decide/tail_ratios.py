"""Did the tail of a curve grow? The slowest 1 % of the samples of two sides, launch by launch.

Samples are divided by the median of their visit, so that a curve that is slower or faster as a
whole has the same tail: the mean of the logarithms of the slowest share 1 - q of samples (expected
shortfall: R. Rockafellar, S. Uryasev, Journal of Risk 2 (2000) 21), launches weighing the same. A
sample that hung for a minute counts by its logarithm. Neighbouring sizes are taken together until
there are samples enough for the quantile q. Where B's median is faster, its tail is compared with
A's as a time: what nobody waits for longer has not grown.

What one launch contributes is told by leaving it out (jackknife: J. Tukey, Annals of Mathematical
Statistics 29 (1958) 614), so that a launch that hung widens the interval. The variance is that of
samples which know nothing of each other, times the factor, 1 at least, by which launches of both
sides differ more than that (quasi-likelihood: R. Wedderburn, Biometrika 61 (1974) 439): slow
samples come in bursts. Launches without any agree perfectly, and say little. What exceeds 1
outlasts launches: it counts once more for each of two runs.

Whether a tail grew is told by how many samples are slow, as means of few of them are poor
witnesses: whether those became more frequent that take a quarter longer than the median of the
slowest share 1 - q, that of the side where it is smaller. The interval of a tail that grew is that
of the ratio whose Student's test has the same probability (test-based interval: O. Miettinen, Am.
J. Epidemiol. 103 (1976) 226).

Slow samples that follow each other are one event, as what delays one sample often delays the next
(runs declustering: A. Davison, R. Smith, J. R. Statist. Soc. B 52 (1990) 393). Events that know
nothing of each other are Poisson's, and given their sum B's are binomial: the conditional test (J.
Przyborowski, H. Wilenski, Biometrika 31 (1940) 313), with half of the probability of what was seen
(mid-P: H. Lancaster, J. Am. Statist. Assoc. 56 (1961) 223), as few events leave few probabilities.
Where launches of a side differ by more than chance lets events differ (index of dispersion: R.
Fisher, Biometrics 6 (1950) 17), the normal deviate of the probability is divided by the root of
that index, which counts once more for each of two runs, and is judged as Student's.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.statistics.doubt import CERTAIN, Doubt
from nhalf.statistics.paired import ROUNDING
from nhalf.statistics.ratio_intervals import Estimates
from nhalf.statistics.same_state import LAUNCHES_MIN
from nhalf.statistics.tails import pooled, quantile_of, samples_needed
from nhalf.store.keys import COMPARED_CURVE

QUANTILE = 0.99
TAIL_THRESHOLD = 1.25
"""Smaller changes of a tail are no alarm: tails differ from day to day."""
BETWEEN_RUNS = 1.0
"""Variance between two runs, in that of launches beyond their samples."""
PROBABILITIES = (1e-12, 0.4)
"""Smaller ones say no more, and with larger ones no test has an interval."""
LIKELY = 0.1
"""With a larger probability the interval contains that of the means."""
SAMPLES_LEAST = 10
"""With fewer samples the median of a visit is no measure of its slowest ones."""


@dataclass(frozen=True)
class TailCurve:
    """A curve with the tails of both sides: sizes and times (groups,), and their estimates.

    A group of sizes is called by its smallest.
    """

    point: dict[str, Any]
    libraries: tuple[str, str]
    launches: int
    size_bytes: Floats
    a_s: Floats
    b_s: Floats
    estimates: Estimates
    doubt: Doubt = CERTAIN


@dataclass(frozen=True)
class Tails:
    """One side: the tails of groups of sizes (groups,), and the median of their launches.

    `part_level` (launches, groups) are what each launch says alone, NaN if it lacks a group, and
    `variance` is that of such a part by its samples. `limit_level` is the slowest's median.
    """

    tail_level: Floats
    limit_level: Floats
    part_level: Floats
    variance: Floats
    median_s: Floats

    @property
    def mean(self) -> Floats:
        """The level and each group, (1 + groups,)."""
        return np.concatenate(([self.tail_level.mean()], self.tail_level))

    @property
    def by_samples(self) -> Floats:
        """The variance of a launch by its samples alone: level and groups, (1 + groups,)."""
        of_sizes = np.nanmean(self.variance, axis=0)
        return np.concatenate(([of_sizes.mean() / len(of_sizes)], of_sizes))

    @property
    def seen(self) -> Floats:
        """The variance of the launches: level and groups, (1 + groups,)."""
        level = np.nanmean(self.part_level, axis=1)
        return np.concatenate(([level.var(ddof=1)], np.nanvar(self.part_level, axis=0, ddof=1)))

    @property
    def launches(self) -> Floats:
        """The launches of the level and of each group, (1 + groups,)."""
        return np.concatenate(([len(self.part_level)], np.isfinite(self.part_level).sum(axis=0)))


ALIKE = 0.03
"""Launches differ if chance alone makes them differ as much with a smaller probability."""
PROBABILITY_LEAST = 1e-300
"""Smaller ones have no finite deviate."""

Visits = Mapping[int, Mapping[int, Sequence[Floats]]]
"""The logarithms of samples in order of time, (samples,) of each visit, by size and launch."""


@dataclass(frozen=True)
class SlowEvents:
    """The events and the samples of one side, all sizes first: (launches, 1 + groups)."""

    events: NDArray[np.int64]
    samples: NDArray[np.int64]


def tail_curves(
    a: pl.DataFrame,
    b: pl.DataFrame,
    libraries: Sequence[tuple[str, str]],
    took_turns: bool = False,
) -> Iterator[TailCurve]:
    """The curves of which both sides have launches and samples enough, from `slow_samples`."""
    for pair in libraries:
        of_a, of_b = (
            dict(list(frame.filter(HAS_TAIL, pl.col("mpi") == mpi).group_by(COMPARED_CURVE)))
            for frame, mpi in zip((a, b), pair, strict=True)
        )
        for key in sorted(of_a.keys() & of_b.keys()):
            numbers = _tail_curve(of_a[key], of_b[key], took_turns)
            if numbers is not None:
                yield TailCurve(dict(zip(COMPARED_CURVE, key, strict=True)), pair, *numbers)


HAS_TAIL = (pl.col("median_s") > 0) & (pl.col("samples") >= SAMPLES_LEAST)
"""Whether the median of a visit is a measure of its slowest samples."""


def _tail_curve(
    a: pl.DataFrame, b: pl.DataFrame, took_turns: bool
) -> tuple[int, Floats, Floats, Floats, Estimates] | None:
    """Launches, sizes, times and estimates of one curve; None with too few launches or samples."""
    groups = size_groups([counts_by_size(side) for side in (a, b)])
    if not groups:
        return None
    before, now = (side_tails(side, groups) for side in (a, b))
    launches = min(len(before.part_level), len(now.part_level))
    if launches < LAUNCHES_MIN:
        return None
    gain = np.minimum(np.log(now.median_s / before.median_s), 0.0)
    limit = np.minimum(before.limit_level, now.limit_level + gain) + math.log(TAIL_THRESHOLD)
    events = (slow_events(_logs(a), groups, limit), slow_events(_logs(b), groups, limit - gain))
    between_runs = 0.0 if took_turns else BETWEEN_RUNS
    means = _estimates(before, now, np.concatenate(([gain.mean()], gain)), between_runs)
    estimates = _with_events(means, events, between_runs)
    a_s, b_s = (np.exp(side.tail_level) * side.median_s for side in (before, now))
    return (launches, np.array([group[0] for group in groups]), a_s, b_s, estimates)


Counts = dict[int, tuple[int, int]]
"""The launches and the samples of each size."""


def counts_by_size(visits: pl.DataFrame) -> Counts:
    """The launches and samples of each size, of one curve's visits."""
    sums = visits.group_by("bytes").agg(pl.col("launch").n_unique(), pl.col("samples").sum())
    return {size: (launches, samples) for size, launches, samples in sums.iter_rows()}


def size_groups(sides: Sequence[Counts]) -> list[list[int]]:
    """Sizes with launches enough on all sides, in groups with samples enough for the quantile.

    What is left at the end joins the last group.
    """
    groups: list[list[int]] = [[]]
    number = 0
    for size in sorted(set.intersection(*(set(side) for side in sides))):
        if min(side[size][0] for side in sides) >= LAUNCHES_MIN:
            groups[-1].append(size)
            number += min(side[size][1] for side in sides)
            if number >= samples_needed(QUANTILE):
                groups.append([])
                number = 0
    *full, left_over = groups
    return [*full[:-1], full[-1] + left_over] if full else []


def _logs(visits: pl.DataFrame) -> Visits:
    """The logarithms of the samples of each visit over their median, 0 at least."""
    logs: dict[int, dict[int, list[Floats]]] = {}
    columns = ("bytes", "launch", "median_s", "samples_s")
    for size, launch, median_s, samples in visits.select(columns).iter_rows():
        ratios = np.maximum(np.asarray(samples) / median_s, 1.0)
        logs.setdefault(size, {}).setdefault(launch, []).append(np.log(ratios))
    return logs


def side_tails(visits: pl.DataFrame, groups: Sequence[Sequence[int]]) -> Tails:
    """The tails of one curve of one side, from its rows of `slow_samples`."""
    logs = _logs(visits)
    medians = dict(visits.group_by("bytes").agg(pl.col("median_s").median()).iter_rows())
    numbers = sorted({k for group in groups for n in group for k in logs[n]})
    tail, limits = np.empty((2, len(groups)))
    parts, variance = np.full((2, len(numbers), len(groups)), np.nan)
    for place, group in enumerate(groups):
        has = [row for row, k in enumerate(numbers) if any(k in logs[n] for n in group)]
        launches = [
            np.concatenate([part for n in group for part in logs[n].get(numbers[row], [])])
            for row in has
        ]
        tail[place], *without = _slowest_means(launches)
        parts[has, place] = len(has) * tail[place] - (len(has) - 1) * np.array(without)
        limit, limits[place] = (
            quantile_of(*pooled(launches), q) for q in (QUANTILE, (1 + QUANTILE) / 2)
        )
        excess = [np.maximum(values - limit, 0.0) / (1 - QUANTILE) for values in launches]
        variance[has, place] = [float(part.var()) / len(part) for part in excess]
    median_s = np.exp([np.log([medians[n] for n in group]).mean() for group in groups])
    return Tails(tail, limits, parts, variance, median_s)


def _slowest_means(launches: Sequence[Floats]) -> list[float]:
    """The mean of the slowest share of all launches, and without each of them."""
    values = np.concatenate(launches)
    lengths = [len(launch) for launch in launches]
    order = np.argsort(-values)
    weights = np.repeat([1 / length for length in lengths], lengths)[order]
    owner = np.repeat(range(len(launches)), lengths)[order]
    means = []
    for left_out in range(-1, len(launches)):
        counts = np.where(owner == left_out, 0.0, weights)
        share = (1 - QUANTILE) * counts.sum()
        # The sample at the limit counts for the part that is left of the share.
        counted = np.clip(share - (np.cumsum(counts) - counts), 0.0, counts)
        means.append(float(counted @ values[order] / share))
    return means


def _estimates(before: Tails, now: Tails, gains: Floats, between_runs: float) -> Estimates:
    """The ratios of the level and of each group with their errors."""
    sides = (before, now)
    ratio = now.mean - before.mean + gains
    degrees = np.array([side.launches - 1.0 for side in sides])
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.array([side.seen / side.by_samples for side in sides])
    weights = np.where(np.isfinite(excess), degrees, 0.0)
    joined = np.sum(np.nan_to_num(excess) * weights, axis=0) / np.maximum(weights.sum(axis=0), 1)
    # A burst of a launch is at many sizes, of which each alone shows little.
    factor = np.maximum(np.maximum(joined, joined[0]), 1.0)
    variance = sum(
        side.by_samples * (factor / side.launches + between_runs * (factor - 1)) for side in sides
    )
    nothing = np.full(len(ratio), np.nan)
    return Estimates(ratio, ratio, np.sqrt(variance), degrees.sum(axis=0), nothing)


def _with_events(
    mean: Estimates, events: tuple[SlowEvents, SlowEvents], between_runs: float
) -> Estimates:
    """The estimates of means, but as sure as events are that the tail grew."""
    from scipy.special import stdtrit

    ratio, degrees = mean.mean_ratio, mean.degrees
    chance = chance_of_more(*events, degrees, between_runs)
    error = -ratio / stdtrit(degrees, np.clip(chance, *PROBABILITIES))
    is_sure = (ratio > ROUNDING) & (chance < LIKELY)
    error = np.where(is_sure, error, np.maximum(error, mean.error))
    # A single group is the level, and needs no second test.
    of = slice(None) if len(ratio) > 2 else slice(1)
    return Estimates(*(x[of] for x in (ratio, ratio, error, degrees, mean.fastest_ratio)))


def slow_events(visits: Visits, groups: Sequence[Sequence[int]], limit_level: Floats) -> SlowEvents:
    """The events beyond the limits (groups,), which are logarithms, of groups of sizes."""
    launches = sorted({launch for group in groups for size in group for launch in visits[size]})
    counts = np.zeros((2, len(launches), 1 + len(groups)), np.int64)
    for row, launch in enumerate(launches):
        for column, (group, limit) in enumerate(zip(groups, limit_level, strict=True), 1):
            for values in (part for size in group for part in visits[size].get(launch, ())):
                is_slow = values > limit
                begins = np.diff(is_slow, prepend=False) & is_slow
                counts[:, row, column] += np.array([np.count_nonzero(begins), len(values)])
    counts[..., 0] = counts.sum(axis=-1)
    return SlowEvents(*counts)


def chance_of_more(
    before: SlowEvents, now: SlowEvents, degrees: Floats, between_runs: float
) -> Floats:
    """The probability of as many events now without a change: all sizes, then groups.

    `degrees` are those of launches; `between_runs` is the variance between two runs, in that of
    launches beyond chance.
    """
    from scipy.special import bdtrc, ndtri, stdtr

    now_events, now_samples = now.events.sum(axis=0), now.samples.sum(axis=0)
    events = before.events.sum(axis=0) + now_events
    share = now_samples / (before.samples.sum(axis=0) + now_samples)
    by_chance = sum(bdtrc(now_events - more, events, share) / 2 for more in (0, 1))
    dispersion = _dispersion((before, now))
    launches = max(len(before.events), len(now.events))
    spread = np.sqrt(dispersion + launches * between_runs * (dispersion - 1))
    deviate = ndtri(np.maximum(by_chance, PROBABILITY_LEAST)) / spread
    chance: Floats = np.where(dispersion > 1, stdtr(degrees, deviate), by_chance)
    return chance


def _dispersion(sides: Sequence[SlowEvents]) -> Floats:
    """The index of dispersion of launches, 1 where they are alike: all sizes, then groups."""
    from scipy.special import chdtrc

    squares, degrees = np.zeros((2, sides[0].events.shape[1]))
    for side in sides:
        expected = side.samples * side.events.sum(axis=0) / side.samples.sum(axis=0)
        squares += ((side.events - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=0)
        degrees += np.where(expected.any(axis=0), (side.samples > 0).sum(axis=0) - 1, 0)
    degrees = np.maximum(degrees, 1)
    index = np.where(chdtrc(degrees, squares) < ALIKE, squares / degrees, 1.0)
    # A burst of a launch is at many sizes, of which each alone shows little.
    largest: Floats = np.maximum(index, index[0])
    return largest
