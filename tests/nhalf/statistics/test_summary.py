"""The summary equals a naive one, and says what it must of odd data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.statistics.intervals import Interval, launch_interval, sample_interval
from nhalf.statistics.next_run import next_run_intervals
from nhalf.statistics.summary import launch_medians, summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS, SUMMARY_COLUMNS
from tests.nhalf.synthetic import build_measurements

Make = Callable[..., pl.LazyFrame]


def rows_of(points: list[tuple[int, int, list[float]]], **columns: Any) -> pl.LazyFrame:
    """Measurements from (bytes, launch, samples)."""
    rows = [
        {
            "run": "r", "transport": "mpi", "mpi": "m", "pattern": "pingpong", "algorithm": "",
            "ranks": 2, "placement": "", "axes": "", "bytes": size, "launch": launch, "position": 0,
            "started_s": 0.0, "batch": 1, "messages_per_round": 2, "bytes_per_time": size,
            "stop": "time", "verified": True, "advice": [], "samples_s": samples, "rank_s": [],
            "values": [], **columns,
        }
        for size, launch, samples in points
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()


def test_nothing_gives_an_empty_summary() -> None:
    summary = summarise(rows_of([]))
    assert summary.is_empty()
    assert dict(summary.schema) == SUMMARY_COLUMNS
    assert launch_medians(rows_of([])).is_empty()


def test_rows_without_samples_are_left_out() -> None:
    summary = summarise(rows_of([(1, 0, []), (1, 1, [2.0]), (2, 0, [])]))
    assert summary["bytes"].to_list() == [1]
    assert summary["launches"].to_list() == [1]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1e-9])
def test_a_sample_that_is_no_time_is_named(wrong: float) -> None:
    with pytest.raises(InputError, match=r"pingpong of 8 B in launch 3 .*measure this point again"):
        summarise(rows_of([(1, 0, [1.0]), (8, 3, [1.0, wrong, 2.0])]))


@pytest.mark.parametrize(("lowest_s", "known"), [(-2e-8, True), (-4e-8, False)])
def test_a_call_shorter_than_the_reading_of_a_clock_may_lie_below_0(
    lowest_s: float, known: bool
) -> None:
    taken_off = [{"name": "other", "value": 1.0}, {"name": "clock_reading_s", "value": 3e-8}]
    rows = rows_of([(8, 0, [lowest_s, lowest_s, 1e-9])], values=taken_off)
    if known:
        assert summarise(rows)["median_s"].to_list() == [lowest_s]
        return
    with pytest.raises(InputError, match="negative"):
        summarise(rows)


def test_the_columns_are_the_contract(make_measurements: Make) -> None:
    assert dict(summarise(make_measurements()).schema) == SUMMARY_COLUMNS


def test_a_machine_without_noise_has_exact_intervals(make_measurements: Make) -> None:
    summary = summarise(make_measurements(noise=0.0, launch_noise=0.0))
    assert (summary["ci_low_s"] == summary["median_s"]).all()
    assert (summary["ci_high_s"] == summary["median_s"]).all()
    assert summary["advice"].list.len().sum() == 0


samples = st.lists(st.floats(min_value=1e-7, max_value=1e-3), min_size=1, max_size=9)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, 6)), samples, min_size=1, max_size=12
    )
)
def test_the_summary_equals_a_naive_one(points: dict[tuple[int, int], list[float]]) -> None:
    measurements = rows_of([(size, launch, s) for (size, launch), s in points.items()])
    summary = {row["bytes"]: row for row in summarise(measurements).to_dicts()}
    sizes = sorted({size for size, _ in points})
    table = [[np.median(points.get((size, n), [math.nan])) for n in range(7)] for size in sizes]
    _, low, high = next_run_intervals(np.array(table), np.zeros(len(sizes), dtype=np.int64))
    next_run = {size: ends for size, *ends in zip(sizes, low, high, strict=True)}
    for size in {size for size, _ in points}:
        own = [s for (other, _), s in sorted(points.items()) if other == size]
        medians = [float(np.median(s)) for s in own]
        expected = launch_interval(medians) if len(own) > 1 else sample_interval(own[0])
        row = summary[size]
        assert row["median_s"] == pytest.approx(expected.median, rel=1e-12)
        if len(own) > 1:
            expected = Interval(expected.median, *next_run[size])
        if len(own) == len(own[0]) == 1:
            assert math.isnan(row["ci_low_s"])
            continue
        assert row["ci_low_s"] == pytest.approx(expected.low, rel=1e-9)
        assert row["ci_high_s"] == pytest.approx(expected.high, rel=1e-9)
        assert row["lowest_s"] == min(min(s) for s in own)
        assert row["launches"] == len(own)
        assert row["samples"] == sum(len(s) for s in own)
        assert ("one-launch" in row["advice"]) == (len(own) == 1)


def test_a_point_measured_twice_in_a_launch_counts_as_one_launch() -> None:
    medians = launch_medians(rows_of([(1, 0, [1.0]), (1, 0, [3.0, 3.0]), (1, 1, [2.0])]))
    assert medians["launch"].to_list() == [0, 1]
    assert medians["median_s"].to_list() == [2.0, 2.0]
    assert medians["samples"].to_list() == [3, 1]


@given(
    st.lists(st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=40), min_size=1, max_size=4),
    st.integers(1, 2),
)
@example([[1.4e-6] * 20, [1.95e-6] * 105], 1)
@settings(max_examples=25)
def test_a_value_lies_in_its_interval(visits: list[list[float]], launches: int) -> None:
    """Also that of one launch, which visited a point for longer in one state than in another."""
    rows = [(8, number, visit) for number in range(launches) for visit in visits]
    (row,) = summarise(rows_of(rows)).rows(named=True)
    is_known = not math.isnan(row["ci_low_s"])
    assert is_known == (row["samples"] > 1)
    assert not is_known or row["ci_low_s"] <= row["median_s"] <= row["ci_high_s"]


def test_runs_and_libraries_stay_apart(make_measurements: Make) -> None:
    both = pl.concat(
        [make_measurements(run="a", libraries=("x", "y")), make_measurements(run="b", seed=2)]
    )
    summary = summarise(both)
    assert summary.height == 3 * 24
    assert summary["launches"].unique().to_list() == [5]
    alone = summarise(make_measurements(run="b", seed=2))
    assert summary.filter(run="b").equals(alone)


def test_advice_is_the_union_over_launches() -> None:
    measurements = pl.concat(
        [
            rows_of([(1, 0, [1.0])], advice=["unpinned", "odd"]),
            rows_of([(1, 1, [1.0])], advice=["unpinned"]),
            rows_of([(1, 2, [1.0])], verified=False),
        ]
    )
    summary = summarise(measurements)
    assert summary["advice"].to_list() == [["unpinned", "unverified", "odd"]]
    assert summary["verified"].to_list() == [False]


def test_wide_intervals_are_imprecise() -> None:
    irregular = [0.3, 1.0, 0.5, 0.0, 0.7]
    wide = [(1, launch, [1.0 + 0.1 * x]) for launch, x in enumerate(irregular)]
    narrow = [(2, launch, [1.0 + 0.01 * x]) for launch, x in enumerate(irregular)]
    assert summarise(rows_of([*wide, *narrow]))["advice"].to_list() == [["imprecise"], []]


def test_times_of_ranks_and_named_values_are_medians_over_launches() -> None:
    launches = [
        ([1.0, 5.0], [("overlap", 0.1), ("skew_s", 7.0)]),
        ([2.0, 4.0], [("overlap", 0.3)]),
        ([9.0, 4.5], [("overlap", 0.2)]),
        ([], []),
    ]
    parts = [
        rows_of(
            [(8, launch, [1.0])],
            axes="root=1",
            rank_s=rank_s,
            values=[{"name": name, "value": value} for name, value in values],
        )
        for launch, (rank_s, values) in enumerate(launches)
    ]
    summary = summarise(pl.concat([*parts, rows_of([(8, 0, [1.0])])]))
    assert summary["axes"].to_list() == ["", "root=1"]
    assert summary["rank_s"].to_list() == [[], [2.0, 4.5]]
    assert summary["values"].to_list()[0] == []
    assert summary["values"].to_list()[1] == [
        {"name": "overlap", "value": 0.2},
        {"name": "skew_s", "value": 7.0},
    ]


def test_axes_make_points_of_their_own() -> None:
    two = pl.concat([rows_of([(8, 0, [float(k)])], axes=f"pairs={k}") for k in (1, 2)])
    summary = summarise(two)
    assert summary["axes"].to_list() == ["pairs=1", "pairs=2"]
    assert summary["median_s"].to_list() == [1.0, 2.0]


@pytest.mark.parametrize(("transport", "known"), [("mpi", False), ("simulated", True)])
def test_one_sample_has_no_interval_unless_it_is_exact(transport: str, known: bool) -> None:
    """An imported log prints one number: nobody knows how far the next one would lie."""
    [row] = summarise(rows_of([(8, 0, [5.1e-7])], transport=transport)).to_dicts()
    assert row["median_s"] == 5.1e-7
    assert (row["ci_low_s"] == row["ci_high_s"] == 5.1e-7) == known
    assert math.isnan(row["ci_low_s"]) != known


@pytest.mark.parametrize(
    ("zeros", "taken_off", "kept", "warned"),
    [(0, False, 9, False), (1, False, 8, True), (4, False, 5, True), (5, False, 9, False),
     (9, False, 9, False), (1, True, 9, False)],
)  # fmt: skip
def test_a_launch_that_took_no_time_is_left_out_with_a_warning(
    zeros: int, taken_off: bool, kept: int, warned: bool
) -> None:
    measured = build_measurements(launches=9, sizes=(8,), patterns=("allreduce",))
    if taken_off:
        reading = pl.lit([{"name": "clock_reading_s", "value": 1e-8}])
        measured = measured.with_columns(values=reading)
    none = pl.col("samples_s").list.eval(pl.element() * 0)
    is_zero = pl.col("launch") < zeros
    summary = summarise(
        measured.with_columns(samples_s=pl.when(is_zero).then(none).otherwise("samples_s"))
    )
    assert summary["launches"].to_list() == [kept]
    assert ("launch-failed" in summary["advice"][0]) == warned
    if warned:
        assert 0 < summary["ci_low_s"][0] < summary["median_s"][0] < summary["ci_high_s"][0]
