"""From raw samples to reported values: one row per point, with its interval over launches.

Raw samples stay in their lists: each row is reduced in place, so ten million samples need no
more memory than they occupy.
"""

import math

import numpy as np
import polars as pl

from nhalf.base.errors import InputError
from nhalf.statistics.advice import (
    ADVICES,
    OTHER_STATE,
    PRECISION_TARGET,
    flag_of_visit,
    gpu_clock_of_visit,
    with_states,
    witnesses_of_group,
)
from nhalf.statistics.derived_advice import derived
from nhalf.statistics.intervals import sample_interval
from nhalf.statistics.next_run import matrix_of, next_run_intervals
from nhalf.store.keys import FLAGGED_COLUMNS, LAUNCH_COLUMNS, RUN_POINT, SUMMARY_COLUMNS, conformed

_PER_LAUNCH = ("bytes_per_time", "verified", "advice", "samples_s", "rank_s", "values")
_READ = (*RUN_POINT, "launch", "position", *_PER_LAUNCH)


NO_BYTES = (pl.col("pattern") == "primitive") & ~pl.col("axes").str.contains("step=(?:put|get)\\b")
"""Steps in the life of a segment that move none of its bytes, whatever older probes say."""

FAILED_MOST = 0.5
LAUNCH_FAILED = "launch-failed"
"""The warning about launches that took no time; of a point that usually does, none is left out."""

HAS_SAMPLES = pl.col("samples_s").list.len() > 0

EXACT = ("simulated",)
"""Deterministic transports: every launch takes the same time as the first."""

VIRTUAL = "virtual"
"""What is said about points in virtual time, which repeat themselves as exactly."""

VIRTUAL_NOISE = "virtual-noise"
"""What is said about points in virtual time whose launches differ, by noise or computing."""


STAND_INS = 5
"""How many equal launches stand for one in virtual time, so that whoever compares launches sees
that they do not differ."""


def is_exact() -> pl.Expr:
    """Whether every launch to a point takes the same time as the first."""
    return pl.col("transport").is_in(EXACT) | pl.col("advice").list.contains(VIRTUAL)


def launch_medians(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per point and launch, sorted: run, the point's columns, launch, then results.

    `median_s` is the median of the launch's samples (of the medians of its visits, if a launch
    visited a point more than once), `lowest_s` its fastest sample, `samples` their number. Rows
    without samples are left out. Raises InputError if a sample is not finite, or more negative
    than clock overhead explains.
    """
    return conformed(_of_launches(visits(measurements)), LAUNCH_COLUMNS)


def visits(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per visit of a launch to a point, with `flag_s` and everything but the samples.

    `row` is the visit's row of the measurements. Raises InputError as `launch_medians`.
    """
    return _visits(_without_nulls(measurements))


def check_samples(measurements: pl.LazyFrame) -> None:
    """Raises InputError for a sample for which `launch_medians` does, without any median."""
    samples = pl.col("samples_s")
    rows = (
        _without_nulls(measurements)
        .filter(HAS_SAMPLES)
        .select(
            *("run", "pattern", "bytes", "launch"),
            lowest_s=samples.list.min(),
            sum_s=samples.list.sum(),
            taken_off_s=_taken_off_s(),
        )
    )
    _check_times(rows.collect())


def stated_visits(measurements: pl.LazyFrame) -> pl.DataFrame:
    """`visits` with `state_s`, `counts` and `elsewhere`: the state of the machine (advice.py)."""
    return with_states(visits(measurements))


def reported_medians(stated: pl.DataFrame, *, elsewhere: bool = False) -> pl.DataFrame:
    """`launch_medians` from `stated_visits`, only those in the reported state of the machine.

    Points that are reported in another state than most of the run are left out, unless `elsewhere`
    asks for them: together with others they would describe no machine.
    """
    in_state = pl.col("counts") & (~pl.col("elsewhere") | elsewhere)
    return conformed(_with_stand_ins(_of_launches(stated.filter(in_state))), LAUNCH_COLUMNS)


def state_medians(stated: pl.DataFrame) -> pl.DataFrame:
    """`launch_medians` and witnesses from `stated_visits`, a row for each state a launch met."""
    by_state = _of_launches(stated, "state_s", "state_number")
    return conformed(_with_stand_ins(by_state), FLAGGED_COLUMNS)


def medians_by_state(stated: pl.DataFrame) -> pl.DataFrame:
    """`reported_medians`, and those of other known states as launches of their own."""
    is_reported = pl.col("counts") & ~pl.col("elsewhere")
    reported = reported_medians(stated).with_columns(state_s=None)
    is_known = pl.col("state_s").is_not_null() & pl.col("state_s").is_not_nan()
    in_others = _of_launches(stated.filter(~is_reported & is_known), "state_s")
    rows = pl.concat(
        [reported.cast({"state_s": pl.Float64}), in_others.select(reported.columns)],
        how="vertical_relaxed",
    )
    launch = pl.struct("launch", "state_s").rank("dense").over("run")
    return conformed(rows.with_columns(launch=launch), LAUNCH_COLUMNS)


def summarise(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per point with SUMMARY_COLUMNS, sorted by run and point.

    A point that delivered wrong data at any rank, visit or launch has no times: they are NaN.

    A point is reported in one state of the machine (advice.py), from the launches in that state.
    The reported value is the pseudomedian of their medians, its interval that of
    `next_run_intervals`; with one launch, that of `sample_interval`, and the advice says so; NaN
    for a single sample that is not simulated. `advice` holds the warnings of probe and launcher and
    those derived from the samples, in the order of `nhalf.statistics.advice.ADVICES`; unknown names
    come last. `rank_s` and `values` are medians over launches, separately for each rank and name.
    """
    # Read once: unpacking ten million samples takes longer than any use of them.
    measurements = _without_nulls(measurements.select(_READ)).collect().lazy()
    wrong = _wrong_points(measurements)
    stated = with_states(_visits(measurements))
    if stated.is_empty():
        return wrong
    reported = stated.filter("counts")
    if reported.height < measurements.filter(HAS_SAMPLES).select(pl.len()).collect().item():
        measurements = measurements.with_row_index("row").join(
            reported.lazy().select("row"), on="row", how="semi"
        )
    launches = _of_launches(reported)
    points = _points(stated, launches)
    median, low, high = next_run_intervals(*matrix_of(points))
    points = points.drop("medians", "numbers").with_columns(
        pl.when(NO_BYTES).then(0).otherwise("bytes_per_time").alias("bytes_per_time"),
        pl.Series("median_s", median),
        pl.Series("ci_low_s", low),
        pl.Series("ci_high_s", high),
    )
    points = _with_sample_intervals(points, measurements)
    points = _with_advice(points, derived(measurements, launches))
    points = conformed(_with_lists(points, measurements), SUMMARY_COLUMNS)
    return points if wrong.is_empty() else pl.concat([points, wrong]).sort(RUN_POINT)


def _wrong_points(measurements: pl.LazyFrame) -> pl.DataFrame:
    """The rows of `summarise` for points that delivered wrong data, sorted."""
    points = (
        measurements.filter(~pl.col("verified").all().over(RUN_POINT))
        .group_by(RUN_POINT)
        .agg(
            pl.col("launch").n_unique().alias("launches"),
            pl.col("bytes_per_time").first(),
            _flat("advice"),
        )
        .collect()
    )
    missing = {name: math.nan for name in ("median_s", "ci_low_s", "ci_high_s", "lowest_s")}
    filled = points.with_columns(
        **{name: pl.lit(value) for name, value in missing.items()},
        state_s=pl.lit(None),
        state_share=pl.lit(None),
        samples=pl.lit(0),
        verified=pl.lit(False),
        advice=_in_order(pl.concat_list("advice", pl.lit("unverified"))),
        rank_s=pl.lit([]),
        values=pl.lit([]),
    )
    return conformed(filled, SUMMARY_COLUMNS).sort(RUN_POINT)


def _points(stated: pl.DataFrame, launches: pl.DataFrame) -> pl.DataFrame:
    """One row per point, from the launches in the reported state; warnings from all visits."""
    of_all = stated.group_by(RUN_POINT, maintain_order=True).agg(
        pl.col("bytes_per_time").first(),
        pl.col("verified").all(),
        _flat("advice").unique(maintain_order=True),
        pl.col("elsewhere").any(),
        pl.col("state_s").filter("counts").first().fill_nan(None),
        state_share=pl.col("counts").mean(),
    )
    of_reported = launches.group_by(RUN_POINT, maintain_order=True).agg(
        pl.col("median_s").alias("medians"),
        pl.col("launch").alias("numbers"),
        pl.col("lowest_s").min(),
        pl.len().cast(pl.Int32).alias("launches"),
        pl.col("samples").sum().cast(pl.Int64),
    )
    return of_reported.join(
        of_all, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left"
    )


def _without_nulls(measurements: pl.LazyFrame) -> pl.LazyFrame:
    """Measurements with '' for nulls in text columns, because keys are compared often."""
    return measurements.with_columns(pl.col(pl.String).fill_null(""))


def _visits(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per visit with samples, sorted by point and launch, with everything but these.

    Points that delivered wrong data have no valid time, in whichever launch it was.
    """
    samples = pl.col("samples_s")
    rows = (
        measurements.with_row_index("row")
        .filter(HAS_SAMPLES & pl.col("verified").all().over(RUN_POINT))
        .select(
            "row",
            *RUN_POINT,
            "launch",
            "position",
            samples.list.median().alias("median_s"),
            samples.list.min().alias("lowest_s"),
            # Minimum and median ignore NaN, a sum does not.
            samples.list.sum().alias("sum_s"),
            _taken_off_s().alias("taken_off_s"),
            samples.list.len().cast(pl.Int64).alias("samples"),
            "bytes_per_time",
            "verified",
            "advice",
            flag_of_visit().alias("flag_s"),
            gpu_clock_of_visit().alias("gpu_clock_hz"),
        )
        .collect()
    )
    _check_times(rows)
    usable = _without_failed(rows).drop("sum_s", "taken_off_s")
    return usable.sort([*RUN_POINT, "launch", "row"])


def _of_launches(rows: pl.DataFrame, *further: str) -> pl.DataFrame:
    """One row per point and launch (and value of `further` columns) of visits, sorted."""
    key = [*RUN_POINT, "launch", *further]
    return (
        rows.group_by(key)
        .agg(
            pl.col("median_s").median(),
            pl.col("lowest_s").min(),
            pl.col("samples").sum(),
            *witnesses_of_group(),
            is_virtual=pl.col("advice").list.contains(VIRTUAL).any(),
        )
        .sort(key)
    )


def _with_stand_ins(launches: pl.DataFrame) -> pl.DataFrame:
    """Launches in virtual time as STAND_INS equal ones."""
    if not launches["is_virtual"].any():
        return launches
    first = launches.filter(pl.col("launch") == pl.col("launch").min().over("run"))
    numbers = pl.DataFrame({"launch": range(STAND_INS)}, {"launch": launches.schema["launch"]})
    stand_ins = first.filter("is_virtual").drop("launch").join(numbers, how="cross")
    real = launches.filter(~pl.col("is_virtual"))
    return pl.concat([real, stand_ins.select(real.columns)])


def _without_failed(rows: pl.DataFrame) -> pl.DataFrame:
    """Visits without those of no time, where most of their point are not, with a warning.

    The clocks of their ranks were set wrong. Single calls are timed to within a reading of the
    clock, and may take no time.
    """
    failed = (pl.col("median_s") <= 0) & (pl.col("taken_off_s") == 0)
    share = failed.mean().over(RUN_POINT)
    is_failed = failed & (share < FAILED_MOST)
    warned = pl.concat_list("advice", pl.lit(LAUNCH_FAILED)).list.unique(maintain_order=True)
    is_warned = is_failed.any().over(RUN_POINT)
    return rows.with_columns(
        advice=pl.when(is_warned).then(warned).otherwise("advice"), is_failed=is_failed
    ).filter(~pl.col("is_failed"))


def _flat(name: str) -> pl.Expr:
    """The items of a list column in a group, as one list."""
    return pl.col(name).list.explode(keep_nulls=False, empty_as_null=False)


def _taken_off_s() -> pl.Expr:
    """The overhead subtracted from each call if calls are timed individually, else 0.

    The measured time of an empty call scatters around 0, but is never below minus this overhead.
    """
    values = pl.col("values")
    readings = values.list.filter(pl.element().struct.field("name") == "clock_reading_s")
    return readings.list.first().struct.field("value").fill_null(0.0)


def _check_times(rows: pl.DataFrame) -> None:
    """Raise InputError naming the first point with an invalid time."""
    usable = pl.col("sum_s").is_finite() & (pl.col("lowest_s") >= -pl.col("taken_off_s"))
    wrong = rows.filter(~usable.fill_null(False)).head(1)
    if wrong.is_empty():
        return
    row = wrong.row(0, named=True)
    raise InputError(
        f"{row['pattern']} of {row['bytes']} B in launch {row['launch']} of run {row['run']!r} "
        "has a sample that is negative or not finite",
        "the store is damaged: measure this point again",
    )


def _with_sample_intervals(points: pl.DataFrame, measurements: pl.LazyFrame) -> pl.DataFrame:
    """Points; those of one launch have the interval of their samples, for lack of another.

    Where that launch visited a point more than once, it holds the medians of all its visits.
    """
    single = points.filter(pl.col("launches") == 1).select(RUN_POINT)
    if single.is_empty():
        return points
    rows = (
        measurements.join(single.lazy(), on=RUN_POINT, how="semi", nulls_equal=True)
        .select(*RUN_POINT, "samples_s", visit_s=pl.col("samples_s").list.median())
        .group_by(RUN_POINT)
        .agg(
            _flat("samples_s"), fastest_s=pl.col("visit_s").min(), slowest_s=pl.col("visit_s").max()
        )
        .select(
            *(*RUN_POINT, "fastest_s", "slowest_s"),
            pl.col("samples_s").list.len().alias("count"),
            # Many times faster than sorting within groups, or than `list.sort`.
            pl.col("samples_s").list.eval(pl.element().sort()).alias("ordered"),
        )
        .collect()
    )
    # The ends are order statistics: their ranks depend only on the number of samples.
    counts = rows["count"].unique().to_list()
    ranks = {count: sample_interval(np.arange(count)) for count in counts}
    low, high = (
        pl.col("count").replace_strict(
            {count: int(getattr(interval, end)) for count, interval in ranks.items()},
            return_dtype=pl.Int64,
        )
        for end in ("low", "high")
    )
    sample_low_s = pl.min_horizontal("fastest_s", pl.col("ordered").list.get(low))
    sample_high_s = pl.max_horizontal("slowest_s", pl.col("ordered").list.get(high))
    intervals = rows.select(*RUN_POINT, sample_low_s=sample_low_s, sample_high_s=sample_high_s)
    return points.join(
        intervals, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(
        _interval_end("sample_low_s", "ci_low_s"), _interval_end("sample_high_s", "ci_high_s")
    )


def _interval_end(sample_column: str, launch_column: str) -> pl.Expr:
    """An end of the interval; a single sample, for example from an imported log, has none."""
    alone = (pl.col("launches") == 1) & (pl.col("samples") == 1)
    end = pl.coalesce(sample_column, launch_column)
    unknown = alone & ~is_exact()
    return pl.when(unknown).then(math.nan).otherwise(end).alias(launch_column)


def _with_advice(points: pl.DataFrame, shapes: pl.DataFrame) -> pl.DataFrame:
    median, low, high = pl.col("median_s"), pl.col("ci_low_s"), pl.col("ci_high_s")
    reach = pl.max_horizontal(high - median, median - low)
    single = pl.col("launches") == 1
    coarse = pl.col("advice").list.contains("timer-coarse")
    flags = {
        # A coarse clock produces steps, which are not states of the machine.
        "bimodal": pl.col("bimodal") & ~coarse,
        "launch-apart": pl.col("apart"),
        "drift": pl.col("drift"),
        "imprecise": ~single & (reach > PRECISION_TARGET * median),
        "one-launch": single & ~is_exact(),
        OTHER_STATE: pl.col("elsewhere"),
    }
    warnings = [pl.when(flag).then(pl.lit(name)) for name, flag in flags.items()]
    joined = points.join(shapes, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left")
    everything = pl.concat_list("advice", pl.concat_list(warnings).list.drop_nulls())
    return joined.with_columns(advice=_in_order(everything))


def _in_order(advice: pl.Expr) -> pl.Expr:
    """Warnings once each, in the order of ADVICES."""
    order = pl.Enum([a.name for a in ADVICES])
    return advice.list.unique().list.eval(
        pl.element().sort_by(pl.element().cast(order, strict=False), pl.element(), nulls_last=True)
    )


def _with_lists(points: pl.DataFrame, measurements: pl.LazyFrame) -> pl.DataFrame:
    """Points with `rank_s` and `values`: the median over launches at each place of the lists."""
    places = points.select(RUN_POINT).with_row_index("point")
    ranks = pl.col("rank_s")
    by_rank = _listed(measurements, places, "rank_s").with_columns(
        rank=pl.int_range(pl.len()).over("point", "row")
    )
    rank_s = (
        by_rank.group_by("point", "rank")
        .agg(ranks.median())
        .sort("point", "rank")
        .group_by("point", maintain_order=True)
        .agg("rank_s")
    )
    values = (
        _listed(measurements, places, "values")
        .unnest("values")
        .group_by("point", "name")
        .agg(pl.col("value").median())
        .sort("point", "name")
        .group_by("point", maintain_order=True)
        .agg(pl.struct("name", "value").alias("values"))
    )
    numbered = points.with_row_index("point")
    for medians in (rank_s, values):
        numbered = numbered.join(medians, on="point", how="left", maintain_order="left")
    return numbered.with_columns(pl.col("rank_s", "values").fill_null([]))


def _listed(measurements: pl.LazyFrame, places: pl.DataFrame, column: str) -> pl.DataFrame:
    """The items of a list column, each with the numbers of its `point` and of its `row`."""
    rows = measurements.filter(pl.col(column).list.len() > 0).select(*RUN_POINT, column).collect()
    return (
        rows.join(places, on=RUN_POINT, nulls_equal=True)
        .drop(RUN_POINT)
        .with_row_index("row")
        .explode(column, empty_as_null=False, keep_nulls=False)
    )
