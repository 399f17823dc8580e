"""A run against promises: every expectation of a file, one answer each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from nhalf.base.errors import unknown
from nhalf.base.rows import Row
from nhalf.decide.check.expectations import MODEL_METRICS, POINT_METRICS, Expectation
from nhalf.decide.check.intervals import Key, time_intervals
from nhalf.decide.check.selector import select
from nhalf.decide.check.verdict import Bounds, JudgedExpectation, PointVerdict, judge
from nhalf.facts.facts import Facts
from nhalf.machines.machine import FittedModel, Segment
from nhalf.results import kinds
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import CURVE, POINT, SUBJECT

UNVERIFIED = "its data did not verify"
ZERO = "a time of 0: the clock is too coarse"
NOTHING = "no such point was measured"

MEMBERS = {"t0": "t0_s", "r_inf": "r_inf_Bps", "n_half": "n_half_bytes"}


def answers(facts: Facts, expectations: Sequence[Expectation]) -> list[JudgedExpectation]:
    """One answer per expectation, in their order."""
    frames = [_points(facts, expectation) for expectation in expectations]
    keys = [frame.select(POINT) for frame in frames]
    together = pl.concat([facts.summary.select(POINT).clear(), *keys]).unique()
    checked = facts.summary.join(together, on=POINT, how="semi", nulls_equal=True)
    times = time_intervals(checked, facts.launches)
    results = []
    for expectation, frame in zip(expectations, frames, strict=True):
        if expectation.metric in POINT_METRICS:
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
    rows = [_model_row(model) for model in facts.models]
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


def _model_row(model: FittedModel) -> dict[str, Any]:
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
