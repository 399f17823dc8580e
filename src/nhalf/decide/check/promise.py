"""A run against promises: every expectation of a file, one answer each.

The method of intervals is that of decide/compare.py, with the median of each size in place of a run
A: the deviations of a launch at all sizes are its level plus residuals, variances are moderated
over sizes, and the intervals of a curve hold jointly (Bonferroni over its sizes). Curves share the
error probability equally, so that all intervals of a check hold jointly with its confidence: a
machine that keeps every promise is reported to miss one with a probability of at most (1 -
confidence) / 2, because only one side of an interval can cause that.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.errors import unknown
from nhalf.base.rows import Row
from nhalf.decide.check.expectations import MODEL_METRICS, POINT_METRICS, Expectation, select
from nhalf.decide.check.verdict import Bounds, JudgedExpectation, PointVerdict, judge
from nhalf.decide.compare import launch_matrix
from nhalf.facts.facts import Facts
from nhalf.facts.tails import quantile_rows
from nhalf.machines.machine import FittedModel, Segment
from nhalf.results import kinds
from nhalf.statistics.intervals import Interval
from nhalf.statistics.ratio_intervals import ratio_intervals
from nhalf.statistics.tails import samples_needed
from nhalf.store.keys import CURVE, POINT, SUBJECT

CONFIDENCE = 0.95
"""The probability that all intervals of a check hold."""


Key = tuple[Any, ...]


def shared_confidence(curves: int) -> float:
    """The confidence that each of several curves needs, so that all of them hold jointly."""
    return 1 - (1 - CONFIDENCE) / max(curves, 1)


def time_intervals(
    summary: pl.DataFrame, medians: pl.DataFrame, further: int = 0
) -> dict[Key, Interval]:
    """The reported time of each point of `summary` with its interval, by the values of POINT.

    `further` intervals hold jointly with those of the curves.
    `medians` are those of the launches (columns of `launch_medians`). The interval is NaN if a
    point has one launch, or a launch with a time of 0.
    """
    times = medians.join(summary.select(POINT), on=POINT, how="semi", nulls_equal=True)
    curves = times.partition_by(CURVE, maintain_order=True)
    confidence = shared_confidence(len(curves) + further)
    ends: dict[Key, tuple[float, float]] = {}
    for curve in curves:
        ends |= _ends(curve.filter(pl.col("median_s").min().over("bytes") > 0), confidence)
    intervals = {}
    for row in summary.select(*POINT, "median_s").iter_rows():
        key, value = row[:-1], row[-1]
        low, high = ends.get(key, (np.nan, np.nan))
        # The reported value is a different mean of the launches: the interval is extended to it.
        intervals[key] = Interval(
            value, float(np.minimum(low, value)), float(np.maximum(high, value))
        )
    return intervals


def _ends(curve: pl.DataFrame, confidence: float) -> dict[Key, tuple[float, float]]:
    """Low and high of every size of one curve, seconds."""
    if curve.is_empty():
        return {}
    sizes = curve["bytes"].unique().sort().to_numpy()
    logs = np.log(launch_matrix(curve, sizes, "median_s"))
    centre = np.nanmedian(logs, axis=0)
    _, (_, low, high) = ratio_intervals(logs - centre, confidence)
    key = curve.select(CURVE).row(0)
    place = POINT.index("bytes")
    return {
        (*key[:place], int(size), *key[place:]): (float(np.exp(a)), float(np.exp(b)))
        for size, a, b in zip(sizes, centre + low, centre + high, strict=True)
    }


UNVERIFIED = "its data did not verify"
ZERO = "a time of 0: the clock is too coarse"
NOTHING = "no such point was measured"

MEMBERS = {"t0": "t0_s", "r_inf": "r_inf_Bps", "n_half": "n_half_bytes"}


def answers(facts: Facts, expectations: Sequence[Expectation]) -> list[JudgedExpectation]:
    """One answer per expectation, in their order."""
    frames = [_points(facts, expectation) for expectation in expectations]
    pairs = list(zip(expectations, frames, strict=True))
    none = facts.summary.select(POINT).clear()
    of_medians = [frame.select(POINT) for promise, frame in pairs if promise.quantile_share is None]
    further = sum(len(frame) for promise, frame in pairs if promise.quantile_share is not None)
    together = pl.concat([none, *of_medians]).unique()
    checked = facts.summary.join(together, on=POINT, how="semi", nulls_equal=True)
    times = time_intervals(checked, facts.launches, further)
    confidence = shared_confidence(checked.select(CURVE).n_unique() + further)
    results = []
    for expectation, frame in pairs:
        if (q := expectation.quantile_share) is not None:
            points = list(_quantiles(facts, expectation, q, frame, confidence))
        elif expectation.metric in POINT_METRICS:
            points = [_point(expectation, row, times) for row in frame.iter_rows(named=True)]
        elif expectation.metric in MODEL_METRICS:
            frame, points = _models(facts, expectation)
        else:
            frame, points = _results(facts, expectation)
        points += _missing(expectation, frame)
        if not points:
            points = [_not_measured({}, expectation, NOTHING)]
        results.append(
            JudgedExpectation(
                expectation.name, expectation.metric, tuple(points), expectation.source
            )
        )
    return results


def verified(facts: Facts) -> JudgedExpectation:
    """Whether the data of every point arrived intact; otherwise no time is valid."""
    wrong = facts.summary.filter(~pl.col("verified")).select(POINT).to_dicts()
    name, bounds = "all data verified", Bounds(1.0, 1.0)
    if wrong:
        points = [PointVerdict(row, "", bounds, None, "missed", UNVERIFIED) for row in wrong]
    elif facts.summary.is_empty():
        points = [PointVerdict({}, "", bounds, None, "not measured", "the run has no point")]
    else:
        points = [PointVerdict({}, "", bounds, Interval(1.0, 1.0, 1.0), "met")]
    return JudgedExpectation(name, "verified", tuple(points))


def _points(facts: Facts, expectation: Expectation) -> pl.DataFrame:
    """The points that are judged individually; only points that move data have a rate."""
    if expectation.metric not in POINT_METRICS:
        return facts.summary.clear()
    points = select(facts.summary, expectation.selectors)
    if expectation.metric == "bandwidth":
        points = points.filter(pl.col("bytes_per_time") > 0)
    return points.select(*POINT, "median_s", "launches", "bytes_per_time", "verified")


def _point(
    expectation: Expectation, row: dict[str, Any], times: dict[Key, Interval]
) -> PointVerdict:
    """A point's time or rate against its bounds."""
    key = {name: row[name] for name in POINT}
    unit, bounds = expectation.unit, expectation.bounds
    if not row["verified"]:
        return PointVerdict(key, unit, bounds, None, "missed", UNVERIFIED)
    value = times[tuple(key.values())]
    if expectation.metric == "bandwidth" and value.median > 0:
        moved = row["bytes_per_time"]
        value = _rate_of(value, moved)
    if row["median_s"] == 0 or (row["launches"] > 1 and math.isnan(value.low)):
        return PointVerdict(key, unit, bounds, None, "unclear", ZERO)
    return judge(key, unit, bounds, value)


def _quantiles(
    facts: Facts, expectation: Expectation, q: float, frame: pl.DataFrame, confidence: float
) -> Iterator[PointVerdict]:
    """Quantiles of the samples of points against the bounds; one launch has no interval."""
    unit, bounds = expectation.unit, expectation.bounds
    rows = quantile_rows(facts, (q,), confidence)
    columns = ("time_s", "low_s", "high_s", "samples")
    quantiles = {row[: len(POINT)]: row[-4:] for row in rows.select(*POINT, *columns).iter_rows()}
    for row in frame.iter_rows(named=True):
        key = {name: row[name] for name in POINT}
        if not row["verified"]:
            yield PointVerdict(key, unit, bounds, None, "missed", UNVERIFIED)
            continue
        time_s, low_s, high_s, samples = quantiles.get(tuple(key.values()), (math.nan,) * 3 + (0,))
        if math.isnan(time_s):
            few = f"{samples} samples: at least {samples_needed(q)} are needed"
            yield PointVerdict(key, unit, bounds, None, "unclear", few)
            continue
        ends = (low_s, high_s) if row["launches"] > 1 else (math.nan, math.nan)
        yield judge(key, unit, bounds, Interval(time_s, *ends))


def _rate_of(time: Interval, moved_bytes: float) -> Interval:
    """The rate that a time is; without an interval where that of the time reaches 0."""
    median = moved_bytes / time.median
    if not time.low > 0:
        return Interval(median, math.nan, math.nan)
    return Interval(median, moved_bytes / time.high, moved_bytes / time.low)


def _models(facts: Facts, expectation: Expectation) -> tuple[pl.DataFrame, list[PointVerdict]]:
    """The parameters of each model: start-up time of the first segment, others of the last.

    With selected sizes, only segments that contain one of them. Also returns the subject of each.
    """
    rows = [curve_of(model) for model in facts.models]
    frame = pl.DataFrame(rows, schema=CURVE)
    selectors = [s for s in expectation.selectors if s.column != "bytes"]
    sizes = [s for s in expectation.selectors if s.column == "bytes"]
    chosen = select(frame.with_row_index("place"), selectors) if rows else frame
    verdicts = []
    for place in chosen["place"] if rows else ():
        segments = [
            s for s in facts.models[place].segments if all(_touches(s, size) for size in sizes)
        ]
        if segments:
            segment = segments[0 if expectation.metric == "t0" else -1]
            low, high = getattr(segment, f"{expectation.metric}_ci") or (math.nan, math.nan)
            value = Interval(getattr(segment, MEMBERS[expectation.metric]), low, high)
            verdicts.append(_whole(facts, rows[place], expectation, value))
    return chosen, verdicts


def curve_of(model: FittedModel) -> dict[str, Any]:
    """The columns of the store that identify a model's curve."""
    return {name: getattr(model, name) for name in CURVE}


def _touches(segment: Segment, sizes: Any) -> bool:
    """Whether a segment holds one of the sizes that are selected."""
    first, last = segment.from_bytes, segment.to_bytes
    exact = any(first <= size <= last for size in sizes.exact)
    return exact or any(low <= last and first <= high for low, high in sizes.ranges)


def _results(facts: Facts, expectation: Expectation) -> tuple[pl.DataFrame, list[PointVerdict]]:
    """A member of each row of a result, with the subject of the row."""
    name, _, member = expectation.metric.partition(".")
    rows = facts.results.get(name, [])
    member = member or kinds()[name].columns[0].name
    members = sorted({key for row in rows for key in row if not key.endswith("_ci")})
    if rows and member not in members:
        raise unknown(f"member of {name}", member, members)
    subjects = [{key: row[key] for key in SUBJECT} for row in rows]
    frame = pl.DataFrame(subjects, schema=SUBJECT)
    if not rows:
        return frame, []
    chosen = select(frame.with_row_index("place"), expectation.selectors)
    return chosen, [_result(facts, expectation, rows[p], member) for p in chosen["place"]]


def _result(facts: Facts, expectation: Expectation, row: Row, member: str) -> PointVerdict:
    subject = {key: row[key] for key in SUBJECT}
    value = row.get(member)
    if not isinstance(value, int | float):
        reason = str(row.get("missing") or "there is no such number")
        return _not_measured(subject, expectation, reason)
    if row.get("subset"):
        return _not_measured(subject, expectation, f"it is an estimate: {row['subset']}")
    low, high = row.get(f"{member}_ci") or (math.nan, math.nan)
    interval = Interval(float(value), float(low), float(high))
    return _whole(facts, subject, expectation, interval)


def _whole(
    facts: Facts, subject: dict[str, Any], expectation: Expectation, value: Interval
) -> PointVerdict:
    """A value derived from many points: with one launch it has no valid interval."""
    if facts.launches_of(subject) < 2:
        value = Interval(value.median, math.nan, math.nan)
    return judge(subject, expectation.unit, expectation.bounds, value)


def _missing(expectation: Expectation, points: pl.DataFrame) -> list[PointVerdict]:
    """List exact selections that were not measured; none if nothing was measured at all."""
    if points.is_empty():
        return []
    return [
        _not_measured({"axes" if s.is_axis else s.column: value}, expectation, NOTHING)
        for s in expectation.selectors
        if s.is_axis or s.column in points.columns
        for value in (f"{s.column}={v}" if s.is_axis else v for v in s.missing(points))
    ]


def _not_measured(point: dict[str, Any], expectation: Expectation, reason: str) -> PointVerdict:
    return PointVerdict(point, expectation.unit, expectation.bounds, None, "not measured", reason)
