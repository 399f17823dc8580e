"""Advice: found where it should be, silent on plain noise.

States of a machine that flags between two cores tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.statistics.advice import ADVICES, advice, with_states
from nhalf.statistics.derived_advice import (
    has_slope,
    split,
    split_threshold,
    trend_signs,
    two_states,
)
from nhalf.statistics.state_groups import borders
from nhalf.statistics.summary import launch_medians, state_medians, stated_visits, summarise, visits
from nhalf.store.keys import POINT_COLUMNS
from tests.nhalf.synthetic import build_measurements

Make = Callable[..., pl.LazyFrame]


def test_every_advice_says_what_to_do() -> None:
    names = [known.name for known in ADVICES]
    assert len(set(names)) == len(names)
    assert all(known.meaning and known.remedy and known.detected for known in ADVICES)
    assert advice("drift").name == "drift"


def test_an_unknown_advice_is_answered_with_the_closest() -> None:
    with pytest.raises(InputError, match="bimodal"):
        advice("bimodul")


def test_split_by_hand() -> None:
    """Two groups of equal numbers explain everything; 0 0 1 1 4 4 splits before the fours."""
    share, distance = split(np.array([[5.0, 1.0, 1.0, 5.0, 1.0, 5.0], [0, 4, 1, 0, 1, 4]]))
    assert share[0] == pytest.approx(1.0)
    assert distance[0] == pytest.approx(4.0)
    assert distance[1] == pytest.approx(3.5)
    mean = 10 / 6
    total = 2 * mean**2 + 2 * (1 - mean) ** 2 + 2 * (4 - mean) ** 2
    assert share[1] == pytest.approx(1 - 4 * 0.25 / total)


def test_no_spread_is_no_split() -> None:
    share, distance = split(np.array([[2.0] * 8, [np.nan] * 8, [1.0, *[np.nan] * 7]]))
    assert share.tolist() == [0, 0, 0]
    assert distance.tolist() == [0, 0, 0]
    assert split(np.ones((2, 1)))[0].tolist() == [0, 0]
    assert split(np.empty((0, 5)))[0].shape == (0,)


def test_one_outlier_is_not_a_state() -> None:
    assert not two_states(np.array([[1.0] * 30 + [9.0]]))[0]
    assert not two_states(np.array([[1.0] * 38 + [9.0, 9.1]]))[0]
    assert two_states(np.array([[1.0, 1.001] * 15 + [1.25] * 8]))[0]


def test_states_that_hardly_differ_do_not_count() -> None:
    assert not two_states(np.array([[1.0] * 20 + [1.02] * 20]))[0]
    assert two_states(np.array([[1.0] * 20 + [1.04] * 20]))[0]


@pytest.mark.parametrize("count", [5, 6, 8, 10, 12, 20, 50, 200])
@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_noise_seldom_looks_like_two_states(count: int, kind: str) -> None:
    """At most 1 % per row: two rows must agree before anything is said."""
    random = np.random.default_rng(count)
    drawn = getattr(random, kind if kind == "exponential" else "standard_normal")
    rows = np.exp(0.3 * drawn(size=(5000, count)))
    assert np.mean(two_states(rows)) < 0.01


def test_the_threshold_falls_with_the_count() -> None:
    thresholds = split_threshold(np.array([20, 50, 100, 256]))
    assert (np.diff(thresholds) < 0).all()
    assert (thresholds > 0.75).all()


def test_trend_signs_by_hand() -> None:
    rises, pairs, change = trend_signs(
        np.array([[1, 1, 1, 5, 5, 5, 2, 2, 1.0], [3, 2, 1, np.nan, *[np.nan] * 5]])
    )
    assert rises.tolist() == [2, -1]
    assert pairs.tolist() == [2, 1]
    assert change[0] == pytest.approx(np.log(2))
    assert trend_signs(np.empty((0, 4)))[0].shape == (0,)
    assert trend_signs(np.ones((2, 1)))[2].tolist() == [0, 0]


def test_slope_needs_launches_and_size() -> None:
    order = np.arange(5.0)
    assert not has_slope(order[:4], np.array([0, 0.1, 0.2, 0.3]))
    assert has_slope(order, 0.02 * order)
    assert has_slope(order, -0.02 * order)
    assert not has_slope(order, 0.005 * order)
    assert not has_slope(order, np.zeros(5))
    assert not has_slope(order, np.array([0.0, 0.1, -0.1, 0.1, 0.0]))


def advice_of(measurements: pl.LazyFrame) -> set[str]:
    return {name for row in summarise(measurements)["advice"] for name in row}


def test_plain_noise_raises_neither_states_nor_drift(make_measurements: Make) -> None:
    runs = [
        make_measurements(run=str(seed), seed=seed, noise=0.1, samples=40) for seed in range(20)
    ]
    found = summarise(pl.concat(runs))["advice"]
    for name in ("bimodal", "drift"):
        assert found.list.contains(name).mean() < 0.02  # type: ignore[operator]


def scaled(measurements: pl.LazyFrame, factors: Callable[[int], Any]) -> pl.LazyFrame:
    """Measurements with samples multiplied by factors of the launch's number."""
    frame = measurements.collect()
    samples = [
        (np.array(row) * factors(launch)).tolist()
        for row, launch in zip(frame["samples_s"], frame["launch"], strict=True)
    ]
    return frame.with_columns(pl.Series("samples_s", samples)).lazy()


def test_states_within_launches_are_found(make_measurements: Make) -> None:
    measurements = make_measurements(sizes=[8, 16], noise=0.01, samples=50)
    states = np.where(np.arange(50) % 3 == 0, 1.3, 1.0)
    assert "bimodal" in advice_of(scaled(measurements, lambda _: states))
    one_only = scaled(measurements, lambda launch: states if launch == 2 else np.ones(50))
    assert "bimodal" not in advice_of(one_only)


def test_states_between_launches_are_found(make_measurements: Make) -> None:
    measurements = make_measurements(noise=0.01, launch_noise=0.001)
    assert "bimodal" in advice_of(
        scaled(measurements, lambda k: np.array(1.3 if k in (1, 4) else 1))
    )
    assert "bimodal" not in advice_of(measurements)


def test_a_coarse_clock_is_not_two_states(make_measurements: Make) -> None:
    coarse = make_measurements(sizes=[8], noise=0.01, samples=50, advice=["timer-coarse"])
    states = np.where(np.arange(50) % 2 == 0, 1.3, 1.0)
    found = advice_of(scaled(coarse, lambda _: states))
    assert "timer-coarse" in found
    assert "bimodal" not in found


def test_drift_within_launches_is_found(make_measurements: Make) -> None:
    measurements = make_measurements(sizes=[8], noise=0.02, samples=60)
    rising = np.linspace(1.0, 1.2, 60)
    assert "drift" in advice_of(scaled(measurements, lambda _: rising))
    assert "drift" in advice_of(scaled(measurements, lambda _: rising[::-1]))
    assert "drift" not in advice_of(scaled(measurements, lambda _: rising**0.05))


def test_drift_between_launches_is_found(make_measurements: Make) -> None:
    measurements = make_measurements(launch_noise=0.002)
    assert "drift" in advice_of(scaled(measurements, lambda k: np.array(1 + 0.03 * k)))


def test_one_launch_says_so(make_measurements: Make) -> None:
    assert "one-launch" in advice_of(make_measurements(launches=1))
    # A simulator takes in every launch what it took in the first.
    assert "one-launch" not in advice_of(make_measurements(launches=1, transport="simulated"))


NEAR, FAR = 55e-9, 290e-9


def launches(flags_s: Sequence[Sequence[float | None]], **point: Any) -> pl.DataFrame:
    """A row per point (by size) and launch, with what its flag took."""
    text = {name: point.get(name, "") for name in POINT_COLUMNS if name not in ("bytes", "ranks")}
    rows = [
        {"run": "run", **text, "ranks": 2, "bytes": size, "launch": launch, "flag_s": flag_s}
        for size, row in enumerate(flags_s)
        for launch, flag_s in enumerate(row)
    ]
    return pl.DataFrame(rows, schema_overrides={"flag_s": pl.Float64})


def counted(frame: pl.DataFrame) -> list[list[bool]]:
    groups = frame.group_by("bytes", maintain_order=True).agg("counts")
    counts: list[list[bool]] = groups["counts"].to_list()
    return counts


def test_one_state_has_no_border_though_flags_spread() -> None:
    flags_s = np.random.default_rng(1).lognormal(math.log(60e-9), 0.1, 2000)
    assert borders(pl.Series(flags_s)) == []


def test_few_flags_between_two_states_are_no_bridge() -> None:
    random = np.random.default_rng(1)
    near, far = (random.lognormal(math.log(flag), 0.05, 500) for flag in (NEAR, FAR))
    between = np.linspace(60e-9, 280e-9, 15)
    (border_s,) = borders(pl.Series(np.concatenate([near, between, far])))
    assert 70e-9 < border_s < 250e-9


def test_one_flag_of_many_is_no_state() -> None:
    assert borders(pl.Series([NEAR] * 60 + [10e-6])) == []
    assert borders(pl.Series([NEAR, FAR])) != []


def test_the_state_of_most_launches_is_reported() -> None:
    flags_s = [[NEAR, NEAR, FAR, NEAR], [NEAR, FAR, FAR, NEAR], [NEAR, NEAR, NEAR, math.nan]]
    found = with_states(launches(flags_s))
    assert counted(found) == [
        [True, True, False, True],
        [True, False, False, True],
        [True, True, True, False],
    ]
    states_s = sorted(set(found["state_s"].drop_nans().to_list()))
    assert states_s == pytest.approx([NEAR, FAR])


def test_other_columns_stay_as_they_are() -> None:
    given = launches([[NEAR, FAR, NEAR]]).with_columns(number=7, chosen=pl.lit("own"))
    assert with_states(given).select(given.columns).equals(given)


def test_a_point_that_hardly_met_the_state_keeps_its_own() -> None:
    found = with_states(launches([[NEAR] * 5, [NEAR] * 5, [FAR, FAR, FAR, FAR, NEAR]]))
    assert counted(found)[2] == [True, True, True, True, False]


@pytest.mark.parametrize("flags_s", [[None, None], [NEAR, NEAR * 1.2], [NEAR, math.nan]])
def test_without_states_all_counts(flags_s: list[float | None]) -> None:
    found = with_states(launches([flags_s]))
    assert found["counts"].all()
    assert found["state_s"].n_unique() == 1


def test_a_launch_without_a_flag_counts_where_one_would_be_left_alone() -> None:
    flags_s = [[NEAR] * 4, [FAR, FAR, NEAR, None], [NEAR, None, None, FAR], [NEAR, NEAR, None, FAR]]
    found = counted(with_states(launches(flags_s)))
    in_its_own = [True, True, True, False]
    assert found[1:] == [[True, True, False, False], in_its_own, [True, True, False, False]]
    assert with_states(launches([[NEAR, FAR, None, None, None]]))["counts"].all()


def test_a_point_in_another_state_says_so() -> None:
    found = with_states(launches([[NEAR] * 5, [NEAR] * 5, [FAR, FAR, FAR, FAR, NEAR]]))
    assert found.group_by("bytes", maintain_order=True).agg("elsewhere")["elsewhere"].to_list() == [
        [False] * 5,
        [False] * 5,
        [True] * 5,
    ]


def test_a_transport_without_flags_is_in_the_state_of_the_others() -> None:
    mixed = pl.concat(
        [launches([[NEAR] * 5, [FAR, NEAR, NEAR]], mpi="x"), launches([[None] * 3], mpi="y")]
    )
    assert not with_states(mixed)["elsewhere"].any()


def test_other_cores_are_other_places() -> None:
    """Ranks on one processor pass flags faster than on two: that is no change of the machine."""
    near = launches([[NEAR] * 4], placement="same-cache")
    far = launches([[FAR] * 4], placement="cores")
    assert with_states(pl.concat([near, far]))["counts"].all()


SLOW, FAST = 345e6, 1980e6


def clocked(
    clocks_hz: list[float | None], flags_s: list[float | None] | None = None
) -> pl.DataFrame:
    """Launches to one point whose GPU had these clocks."""
    rows = launches([flags_s or [None] * len(clocks_hz)])
    return rows.with_columns(gpu_clock_hz=pl.Series(clocks_hz, dtype=pl.Float64))


def test_a_gpu_at_another_clock_is_another_state() -> None:
    clocks_hz = [FAST, FAST * 1.02, SLOW, math.nan, FAST, SLOW, FAST]
    stated = with_states(clocked(clocks_hz))
    assert stated["counts"].to_list() == [True, True, False, False, True, False, True]
    assert not stated["elsewhere"].any()


@pytest.mark.parametrize(
    "clocks_hz", [[None] * 3, [FAST, FAST * 1.03, FAST], [FAST, math.nan, FAST], [math.nan] * 3]
)
def test_one_clock_of_a_gpu_is_no_states(clocks_hz: list[float | None]) -> None:
    assert with_states(clocked(clocks_hz))["counts"].all()


def test_points_without_a_gpu_are_in_the_state_of_most_of_those_with_one() -> None:
    both = pl.concat(
        [clocked([FAST] * 4 + [SLOW]), clocked([None] * 4).with_columns(mpi=pl.lit("x"))]
    )
    stated = with_states(both)
    assert stated["counts"].to_list() == [*[True] * 4, False, *[True] * 4]
    assert not stated["elsewhere"].any()


def test_flags_and_clocks_tell_states_together() -> None:
    clocks_hz: list[float | None] = [FAST, FAST, FAST, SLOW, SLOW, FAST]
    stated = with_states(clocked(clocks_hz, [NEAR, NEAR, NEAR, NEAR, FAR, FAR]))
    assert stated["counts"].to_list() == [True, True, True, False, False, False]


def test_no_visit_in_a_single_state_leaves_the_states_unknown() -> None:
    clocks_hz = [FAST, SLOW, math.nan, math.nan, math.nan, math.nan]
    stated = with_states(clocked(clocks_hz, [None, None, NEAR, NEAR, FAR, FAR]))
    assert stated["state_number"].to_list() == [-1] * 6
    assert not stated["elsewhere"].any()


def flagged(given: pl.DataFrame, before_s: pl.Expr, after_s: pl.Expr) -> pl.LazyFrame:
    """Measurements with the flags before and after each visit."""
    flags = {"flag_high_s": after_s, "flag_low_s": before_s}
    values = pl.concat_list(
        pl.struct(pl.lit(name).alias("name"), flag.alias("value")) for name, flag in flags.items()
    )
    return given.with_columns(values=values).lazy()


def test_flags_come_from_both_sides_of_a_visit() -> None:
    given = build_measurements(sizes=(0, 8), launches=2).collect()
    after = pl.when(pl.col("launch") == 1).then(160e-9).otherwise(40e-9)
    found = visits(flagged(given, pl.lit(40e-9), after)).sort("launch")["flag_s"].to_list()
    assert found[:2] == pytest.approx([40e-9] * 2)
    assert all(math.isnan(flag_s) for flag_s in found[2:])


def test_a_launch_that_meets_two_states_counts_in_each() -> None:
    """Each launch visits its points three times; the machine is far during the last visit."""
    once = build_measurements(sizes=(0, 8, 64), launches=4, noise=0.0).collect()
    near = flagged(once, pl.lit(NEAR), pl.lit(NEAR)).collect()
    slowed = once.with_columns(samples_s=pl.col("samples_s").list.eval(2 * pl.element()))
    far = flagged(slowed, pl.lit(FAR), pl.lit(FAR)).collect()
    measured = pl.concat([near, near, far]).lazy()
    found, alone = summarise(measured), summarise(near.lazy())
    assert found["median_s"].to_list() == pytest.approx(alone["median_s"].to_list(), rel=1e-12)
    assert found["launches"].to_list() == [4] * 3
    assert found["state_share"].to_list() == pytest.approx([2 / 3] * 3)
    by_state = state_medians(stated_visits(measured))
    assert by_state.group_by("flag_s").len().sort("flag_s")["len"].to_list() == [12, 12]
    assert launch_medians(measured).height == 12


def test_a_summary_is_of_one_state() -> None:
    """Times in the far state are twice those in the near one; a fifth of the launches is far."""
    given = build_measurements(sizes=(0, 8, 64), launches=5, noise=0.0).collect()
    far = pl.col("launch") == 3
    flag = pl.when(far).then(FAR).otherwise(NEAR)
    slowed = pl.when(far).then(pl.col("samples_s").list.eval(2 * pl.element()))
    given = given.with_columns(samples_s=slowed.otherwise("samples_s"))
    given = flagged(given, flag, flag).collect()
    found = summarise(given.lazy())
    alone = summarise(given.filter(~far).lazy())
    for name in ("median_s", "ci_low_s", "ci_high_s"):
        assert found[name].to_list() == pytest.approx(alone[name].to_list(), rel=1e-12)
    assert found["launches"].to_list() == [4] * 3
    assert found["state_share"].to_list() == pytest.approx([0.8] * 3)
    assert found["state_s"].to_list() == pytest.approx([NEAR] * 3)
    assert alone["state_s"].to_list() == pytest.approx([NEAR] * 3)
    assert alone["state_share"].to_list() == [1.0] * 3
