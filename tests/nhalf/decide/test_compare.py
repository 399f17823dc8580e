"""Comparisons: silent on equal machines, sure of slow ones, clear about what is missing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import msgspec
import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.changes import Ratio
from nhalf.decide.compare import compare, pair_libraries
from nhalf.statistics.doubt import DISTURBED
from nhalf.statistics.intervals import Floats
from nhalf.statistics.ratio_intervals import ratio_intervals
from nhalf.statistics.summary import launch_medians, summarise

Make = Callable[..., pl.LazyFrame]
TRIALS = 200


def curves(seed: int, factor: float = 1.0, sizes: int = 24, launches: int = 5) -> Floats:
    """Logarithms of ratios: 2 % noise per size, 0.5 % per launch, two states in a fifth."""
    random = np.random.default_rng(seed)
    noise = 0.02 * random.standard_normal((launches, sizes))
    states = 0.05 * (random.random((launches, sizes)) < 0.2)
    return math.log(factor) + noise + states + 0.005 * random.standard_normal((launches, 1))


def slower(logs: Floats, threshold: float = 1.02) -> bool:
    curve, sizes = ratio_intervals(logs)
    return bool(curve[1] > math.log(threshold) or np.any(sizes[1] > math.log(threshold)))


def test_equal_machines_raise_no_alarm() -> None:
    alarms = [slower(curves(seed) - 0.01) for seed in range(1000)]
    assert np.mean(alarms) < 0.01


def test_without_a_margin_false_alarms_keep_to_the_confidence() -> None:
    """At threshold 1 there is nothing but the intervals: at most 1 %, plus 3 deviations."""
    random = np.random.default_rng(5)
    alarms = []
    for _ in range(1000):
        scale = 0.02 * np.exp(0.5 * random.standard_normal(24))
        noise = scale * random.standard_normal((5, 24))
        alarms.append(slower(noise + 0.01 * random.standard_normal((5, 1)), 1.0))
    assert np.mean(alarms) < 0.01 + 3 * math.sqrt(0.01 / 1000)


@pytest.mark.parametrize(("factor", "least"), [(1.05, 0.8), (1.25, 0.99)])
def test_slow_downs_are_found(factor: float, least: float) -> None:
    found = [slower(curves(seed, factor)) for seed in range(TRIALS)]
    assert np.mean(found) > least


def test_a_slow_down_of_one_size_is_found_there_and_only_there() -> None:
    found = 0
    for seed in range(TRIALS):
        random = np.random.default_rng(seed)
        logs = 0.03 * random.standard_normal((5, 24))
        logs[:, 7] += math.log(1.25)
        _, (_, low, _) = ratio_intervals(logs)
        found += np.flatnonzero(low > math.log(1.02)).tolist() == [7]
    assert found > 0.95 * TRIALS


def test_a_few_odd_sizes_do_not_move_the_curve() -> None:
    logs = 0.01 * np.random.default_rng(1).standard_normal((5, 24))
    logs[:, 3:6] += np.random.default_rng(2).normal(1.0, 0.5, (5, 3))
    (centre, low, high), _ = ratio_intervals(logs)
    assert abs(centre) < 0.01
    assert high - low < 0.05


def test_a_machine_without_noise_is_judged_exactly(make_measurements: Make) -> None:
    still = {"noise": 0.0, "launch_noise": 0.0, "launches": 3}
    a = launch_medians(make_measurements(**still))
    b = launch_medians(make_measurements(**still, slower={"mpich": 1.1}))
    curve = compare(a, b).curves[0]
    assert curve.verdict == "slower"
    assert (curve.ratio.low, curve.ratio.high) == pytest.approx((1.1, 1.1))
    assert compare(b, a).verdict == "faster"
    assert compare(a, a).verdict == "equal"
    assert {size.verdict for size in compare(a, a).curves[0].sizes} == {"equal"}


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [
        (1.05, 1.001, 1.1, "slower"),
        (1.019, 1.001, 1.1, "unclear"),
        (1.05, 0.999, 1.1, "unclear"),
        (1.0, 0.99, 1.01, "equal"),
        (1.01, 1.005, 1.015, "equal"),
        (0.95, 0.9, 0.99, "faster"),
        (0.95, 0.9, 1.01, "unclear"),
        (1.0, 0.9, 1.1, "unclear"),
        (22.0, 2.9, 163.0, "slower"),
        (22.0, 1.5, 163.0, "unclear"),
        (22.0, 0.0, math.inf, "unclear"),
        (0.935, math.nan, math.nan, "unclear"),
    ],
)
def test_a_verdict_needs_the_whole_interval(
    ratio: float, low: float, high: float, verdict: str
) -> None:
    assert Ratio(ratio, low, high).verdict(1.02) == verdict


def test_one_launch_has_no_interval_and_no_verdict(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(launches=1))
    b = launch_medians(make_measurements(launches=1, slower={"mpich": 3}))
    comparison = compare(a, b)
    assert comparison.verdict == "unclear"
    (curve,) = msgspec.json.decode(msgspec.json.encode(comparison.as_json()))["patterns"]
    assert curve["ci"] == [None, None]
    assert curve["ratio"] == pytest.approx(3, rel=0.2)


def test_slower_here_and_faster_there_is_mixed(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(launch_noise=0.003))
    half = pl.when(pl.col("bytes") < 1024).then(1.5).otherwise(0.6)
    both = a.with_columns(pl.col("median_s", "lowest_s") * half)
    comparison = compare(a, both)
    assert comparison.verdict == "mixed"
    assert comparison.regressed


def test_pairing_takes_away_what_both_suffered(make_measurements: Make) -> None:
    """A disturbance of one round hits both libraries: the ratio does not see it."""
    a = launch_medians(make_measurements(launch_noise=0.002, seed=1))
    b = launch_medians(make_measurements(launch_noise=0.002, seed=2))
    storm = pl.when(pl.col("launch") == 3).then(2.0).otherwise(1.0)
    a, b = (frame.with_columns(median_s=pl.col("median_s") * storm) for frame in (a, b))
    ratio = compare(a, b, took_turns=True).curves[0].ratio
    assert ratio.high - ratio.low < 0.03
    apart = compare(a, b).curves[0].ratio
    assert apart.high - apart.low > 1


def test_sizes_of_one_side_only_are_listed(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(sizes=[0, 8, 64]))
    b = launch_medians(make_measurements(sizes=[8, 64, 100]))
    comparison = compare(a, b)
    assert [size.size_bytes for size in comparison.curves[0].sizes] == [8, 64]
    lost = {entry["reason"]: entry["bytes"] for entry in comparison.not_comparable}
    assert lost == {"only in A": [0], "only in B": [100]}


def test_missing_launches_are_left_out(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(launches=6))
    b = launch_medians(make_measurements(launches=[0, 2, 3, 5, 7], slower={"mpich": 1.3}))
    comparison = compare(a, b, took_turns=True)
    assert comparison.curves[0].launches == 4
    assert comparison.verdict == "slower"
    comparison = compare(a, b)
    assert comparison.curves[0].launches == 5
    assert comparison.verdict == "slower"


def test_a_launch_that_was_cut_short_does_not_spoil_the_others(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(launch_noise=0.003, seed=1))
    b = launch_medians(make_measurements(launch_noise=0.003, seed=2, slower={"mpich": 1.1}))
    cut = b.filter((pl.col("launch") != 4) | (pl.col("bytes") < 8))
    comparison = compare(a, cut)
    assert comparison.curves[0].launches == 4
    assert comparison.verdict == "slower"


def test_a_size_that_a_launch_lacks_is_still_judged(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(launch_noise=0.003, seed=1))
    b = launch_medians(make_measurements(launch_noise=0.003, seed=2, slower={"mpich": 1.2}))
    gap = b.filter((pl.col("launch") != 1) | (pl.col("bytes") != 64))
    sizes = {size.size_bytes: size for size in compare(a, gap).curves[0].sizes}
    assert sizes[64].verdict == "slower"
    seen_once = b.filter((pl.col("launch") == 1) | (pl.col("bytes") != 64))
    sizes = {size.size_bytes: size for size in compare(a, seen_once).curves[0].sizes}
    assert sizes[64].verdict == "unclear"
    assert math.isnan(sizes[64].ratio.low)


def test_nothing_in_common_is_an_input_error(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(sizes=[8]))
    with pytest.raises(InputError, match="common"):
        compare(a, launch_medians(make_measurements(sizes=[9])))
    with pytest.raises(InputError, match="common"):
        compare(a, launch_medians(make_measurements(sizes=[])))
    with pytest.raises(InputError, match="common"):
        compare(a, launch_medians(make_measurements(sizes=[8], launches=[7])), took_turns=True)


@pytest.mark.parametrize("threshold", [0.5, math.nan, math.inf])
def test_a_threshold_is_a_ratio_above_1(make_measurements: Make, threshold: float) -> None:
    a = launch_medians(make_measurements(sizes=[8]))
    with pytest.raises(InputError, match="threshold"):
        compare(a, a, threshold=threshold)


def test_libraries_are_paired_by_name_or_alone(make_measurements: Make) -> None:
    one = launch_medians(make_measurements(libraries=["x"], sizes=[8]))
    two = launch_medians(make_measurements(libraries=["x", "y"], sizes=[8]))
    other = launch_medians(make_measurements(libraries=["z"], sizes=[8]))
    assert pair_libraries(one, two) == [("x", "x")]
    assert pair_libraries(one, other) == [("x", "z")]
    assert pair_libraries(two, other) == []
    with pytest.raises(InputError, match="RUN:LIBRARY"):
        compare(two, other)


def test_two_libraries_of_one_run(make_measurements: Make) -> None:
    run = launch_medians(make_measurements(libraries=["x", "y"], slower={"y": 1.4}))
    comparison = compare(run, run, libraries=[("x", "y")])
    assert comparison.verdict == "slower"
    assert comparison.curves[0].mpi == "x,y"


def test_json_has_the_promised_form(make_measurements: Make) -> None:
    a = launch_medians(make_measurements(sizes=[0, 8], patterns=["pingpong", "stream"]))
    comparison = compare(a, a, took_turns=True)
    result = json.loads(json.dumps(comparison.as_json(), allow_nan=False))
    assert set(result) >= {"verdict", "patterns", "not_comparable"}
    assert [curve["pattern"] for curve in result["patterns"]] == ["pingpong", "stream"]
    assert set(result["patterns"][0]) >= {"pattern", "mpi", "ratio", "ci", "verdict", "sizes"}
    size = result["patterns"][0]["sizes"][1]
    assert set(size) >= {"bytes", "ratio", "ci_low", "ci_high", "verdict"}
    assert (size["bytes"], size["ratio"], size["verdict"]) == (8, 1.0, "equal")


def test_times_shown_are_those_of_the_summary(make_measurements: Make) -> None:
    measured = make_measurements(noise=0.2)
    medians, shown = launch_medians(measured), summarise(measured)
    for size in compare(medians, medians).curves[0].sizes:
        reported = shown.filter(pl.col("bytes") == size.size_bytes)["median_s"]
        assert size.a_s == size.b_s == pytest.approx(reported.item())


def test_a_launch_without_a_time_is_left_out_and_the_size_is_compared(
    make_measurements: Make,
) -> None:
    a = launch_medians(make_measurements(sizes=[8, 1024], launch_noise=0.003))
    b = launch_medians(make_measurements(sizes=[8, 1024], launch_noise=0.003, seed=2))
    is_zero = (pl.col("launch") == 1) & (pl.col("bytes") == 8)
    zero = a.with_columns(median_s=pl.when(is_zero).then(0.0).otherwise("median_s"))
    comparison = compare(zero, b)
    assert [size.size_bytes for size in comparison.curves[0].sizes] == [8, 1024]
    assert comparison.not_comparable == []
    assert comparison.verdict == "equal" or comparison.curves[0].worse == "not worse"


@pytest.mark.parametrize(
    ("factor", "samples", "verdict"),
    [(1.3, 2, "unclear"), (1.3, 12, "slower"), (20.0, 12, "unclear")],
    ids=["few samples", "enough", "most disturbed"],
)
def test_a_change_that_the_fastest_samples_do_not_show_can_be_a_disturbance(
    make_measurements: Make, factor: float, samples: int, verdict: str
) -> None:
    before = launch_medians(make_measurements(sizes=(2**20,))).with_columns(samples=samples)
    now = before.with_columns(pl.col("median_s") * factor)
    comparison = compare(before, now)
    assert comparison.verdict == verdict
    if verdict == "unclear":
        assert comparison.curves[0].doubt is DISTURBED
    all_slower = now.with_columns(pl.col("lowest_s") * factor)
    assert compare(before, all_slower).verdict == "slower"
