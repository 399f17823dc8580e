"""The effective bandwidth as tables, lines, pictures and findings show it.

b_eff of made-up points: means, maxima, intervals, and what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from nhalf.present.panels import Table
from nhalf.present.panels.messages import Bandwidth
from nhalf.present.panels.traffic import BEff, BEffCurves
from nhalf.results.b_eff import EffectiveBandwidth, b_eff, curves, geometric_mean, pingpong, rates
from nhalf.statistics.intervals import launch_interval
from nhalf.statistics.summary import summarise
from tests.nhalf.results.b_eff.made_up import frame, made_up, only
from tests.nhalf.results.b_eff.script import LENGTHS, LONGEST, METHODS, geometric

Make = Callable[..., pl.LazyFrame]


def report_data(*frames: pl.LazyFrame) -> Facts:
    measurements = pl.concat(frames)
    return Facts(measurements, titles={"mpich": "MPICH"})


def test_table_has_the_columns_by_which_machines_are_compared(
    make_rings: Make, make_measurements: Make
) -> None:
    table = BEff().render(report_data(make_rings(), make_measurements()))
    assert isinstance(table, Table)
    assert table.columns[:4] == ["library", "processes", "b_eff", "per process"]
    assert table.columns[-2:] == ["ping-pong", "latency"]
    [cells] = table.rows
    assert cells[:2] == ["MPICH", "2"]
    assert all("B/s" in cell and "±" in cell for cell in (*cells[2:4], *cells[5:7]))
    assert cells[4] == "16 KiB"
    assert " GB/s ±" in cells[-2]
    assert "s ±" in cells[-1]


def test_without_pingpong_its_columns_are_left_out(make_rings: Make) -> None:
    table = BEff().render(report_data(make_rings()))
    assert isinstance(table, Table)
    assert table.columns[-1] == "rings at L_max"


def test_incomplete_data_says_so_in_table_line_and_finding(make_rings: Make) -> None:
    data = report_data(make_rings().filter(pl.col("bytes") > 2))
    table = BEff().render(data)
    assert isinstance(table, Table)
    assert table.columns[-1] == "what is missing"
    assert table.rows[0][-1] == "only 19 of 21 lengths were measured"
    assert "b_eff" not in table.columns
    [row] = data.results["b_eff"]
    assert EffectiveBandwidth().line(row) == "no b_eff: only 19 of 21 lengths were measured"
    [finding] = [f for f in findings(data) if f.kind == "b-eff-incomplete"]
    assert "19 of 21 lengths" in finding.text


def test_chart_has_a_line_per_kind_and_library(make_rings: Make) -> None:
    data = report_data(make_rings(scattered=2.0, libraries=("mpich", "other")))
    chart = BEffCurves().render(data)
    assert chart is not None
    rows = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    assert {(row["series"], row["kind"]) for row in rows} == {
        (series, kind)
        for series in ("MPICH", "other")
        for kind in ("rings of neighbours", "random orders")
    }
    assert len(rows) == 4 * 21
    for row in rows:
        assert row["low"] <= row["rate"] <= row["high"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("scattered", "said"), [(2.0, True), (1.0, False), (1.05, False)])
def test_random_orders_are_a_finding_where_they_cost(
    make_rings: Make, scattered: float, said: bool
) -> None:
    found = [
        f for f in findings(report_data(make_rings(scattered))) if f.kind == "random-neighbours"
    ]
    assert bool(found) == said
    for finding in found:
        assert finding.value == pytest.approx(1 / scattered, rel=0.01)
        assert "reach 50 % of the bandwidth of rings" in finding.text


def test_one_launch_is_no_ground_for_a_finding(make_rings: Make) -> None:
    data = report_data(make_rings(3.0, launches=1))
    assert not [f for f in findings(data) if f.kind == "random-neighbours"]


def test_parts_stay_out_of_curves_names_and_models(
    make_rings: Make, make_measurements: Make
) -> None:
    data = report_data(make_rings(), make_measurements())
    assert Bandwidth().render(report_data(make_rings())) is None
    chart = Bandwidth().render(data)
    assert chart is not None
    rows = [row for rows in chart.to_dict()["datasets"].values() for row in rows]
    assert {(row["series"], row["pattern"]) for row in rows} == {("MPICH", "pingpong")}
    assert {model.pattern for model in data.models} == {"pingpong"}


# What nhalf measures.


# The averaging, on rates that are made up.


def test_means_over_lengths_are_arithmetic_over_patterns_geometric() -> None:
    def rate(ring: int, method: str, size: int, launch: int) -> float:
        return ring * (size == LONGEST) * 2100.0 + ring

    row = only(made_up(rate))
    rings = geometric([r * 101.0 for r in range(1, 7)])
    random = geometric([r * 101.0 for r in range(7, 37)])
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-12)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-12)
    assert row["b_eff_Bps"] == pytest.approx(math.sqrt(rings * random), rel=1e-12)
    assert row["longest_bytes"] == LONGEST
    at_longest = geometric([r * 2101.0 for r in range(1, 7)])
    assert row["rings_at_longest_Bps"] == pytest.approx(at_longest, rel=1e-12)
    assert row["rings_at_longest_per_process_Bps"] == pytest.approx(at_longest / 4, rel=1e-12)


def test_the_geometric_mean_of_patterns_keeps_what_is_behind_them() -> None:
    """As a prediction has them: one array of draws for each pattern."""
    patterns = [np.array([1.0, 2.0]), np.array([4.0, 8.0]), np.array([16.0, 4.0])]
    assert geometric_mean(patterns) == pytest.approx([4.0, 4.0])


def test_maxima_are_taken_over_launches_and_methods_of_each_length() -> None:
    """Each length has its own best method and launch: means of wholes would be smaller."""

    def rate(ring: int, method: str, size: int, launch: int) -> float:
        index = LENGTHS.index(size)
        return 900.0 if METHODS[index % 3] == method and index % 2 == launch else 100.0

    row = only(made_up(rate, launches=2))
    assert row["b_eff_Bps"] == pytest.approx(900, rel=1e-12)
    assert row["by_method_Bps"]["sendrecv"] == pytest.approx((7 * 900 + 14 * 100) / 21, rel=1e-12)


def test_the_time_of_a_launch_is_the_median_of_its_samples() -> None:
    rows = made_up(lambda *_: 1000.0)
    for row in rows:
        row["samples_s"] = [0.5, 1.0, 100.0]
    assert only(rows)["b_eff_Bps"] == pytest.approx(1000, rel=1e-12)


def test_the_interval_is_that_of_whole_launches_stretched_to_the_value() -> None:
    levels = [100.0, 104.0, 98.0, 101.0, 103.0]
    row = only(made_up(lambda ring, method, size, launch: levels[launch], launches=5))
    wanted = launch_interval(levels)
    assert row["b_eff_Bps"] == pytest.approx(104, rel=1e-12)
    assert row["b_eff_Bps_ci"] == pytest.approx([wanted.low, max(wanted.high, 104)], rel=1e-9)
    assert row["b_eff_per_process_Bps_ci"] == pytest.approx(
        [end / 4 for end in row["b_eff_Bps_ci"]], rel=1e-12
    )
    assert row["launches"] == 5


def test_one_launch_has_no_interval_and_an_incomplete_one_does_not_count() -> None:
    assert not any(name.endswith("_ci") for name in only(made_up(lambda *_: 1.0)))
    row = only(made_up(lambda *_: 1.0, launches=3)[:-1])
    assert row["launches"] == 2
    assert row["b_eff_Bps_ci"] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (lambda row: row["bytes"] in (LONGEST, 2), "19 of 21 lengths"),
        (lambda row: row["bytes"] > 4096, "13 of 21 lengths"),
        (lambda row: not row["axes"].endswith(("ring=1", "ring=6")), "2 of 36 patterns"),
        (
            lambda row: row["bytes"] == 1 or "sendrecv" in row["axes"],
            "only 20 of 21 lengths, 2 of 3 methods were measured",
        ),
    ],
)
def test_what_is_missing_is_said_instead_of_a_number(
    left_out: Callable[[dict[str, Any]], bool], words: str
) -> None:
    rows = [row for row in made_up(lambda *_: 1.0, launches=2) if not left_out(row)]
    row = only(rows)
    assert words in row["missing"]
    assert not any(name.endswith("_Bps") for name in row)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (lambda row: row["axes"].startswith("method=alltoallv"), "2 of 3 methods"),
        (lambda row: row["axes"].endswith(("ring=1", "ring=36")), "34 of 36 patterns"),
        (lambda row: row["bytes"] == 64, "20 of 21 lengths"),
        (
            lambda row: row["bytes"] == 64 and row["axes"] == "method=sendrecv,ring=9",
            "only 2267 of 2268 points were measured",
        ),
        (lambda row: LENGTHS.index(row["bytes"]) % 4 > 0, "6 of 21 lengths"),
    ],
)
def test_a_part_that_reaches_from_end_to_end_gives_an_estimate_and_says_of_what(
    left_out: Callable[[dict[str, Any]], bool], words: str
) -> None:
    """Rates grow with a power of the length, so that lines between lengths are exact."""

    def rate(ring: int, method: str, size: int, launch: int) -> float:
        return 5e6 * size**0.3 * (0.5 if ring > 6 else 1.0)

    whole = made_up(rate)
    row = only([one for one in whole if not left_out(one)])
    assert row["missing"] == ""
    assert words in row["subset"]
    assert row["b_eff_Bps"] == pytest.approx(only(whole)["b_eff_Bps"], rel=1e-9)
    assert row["random_ratio"] == pytest.approx(0.5)
    assert row["b_eff_per_process_Bps"] == pytest.approx(row["b_eff_Bps"] / 4)
    assert not any(name.endswith("_ci") for name in row)
    line = EffectiveBandwidth().line(row)
    assert line.startswith("b_eff is about ")
    assert words in line


@pytest.mark.parametrize(
    "spoiled",
    [{"samples_s": []}, {"samples_s": [0.0]}, {"verified": False}, {"bytes_per_time": 0}],
)
def test_points_without_a_rate_are_missing(spoiled: dict[str, Any]) -> None:
    rows = made_up(lambda *_: 1.0)
    rows[5] |= spoiled
    assert "2267 of 2268 points" in only(rows)["subset"]


def test_other_lengths_are_not_those_of_b_eff() -> None:
    rows = made_up(lambda *_: 1.0)
    for row in rows:
        row["bytes"] += 1 if row["bytes"] == LENGTHS[15] else 0
    assert "not those" in only(rows)["missing"]


def test_further_lengths_do_no_harm() -> None:
    rows = made_up(lambda *_: 1.0)
    more = [row | {"bytes": 3, "samples_s": [1.0]} for row in rows if row["bytes"] == 1]
    assert only(rows + more)["b_eff_Bps"] == pytest.approx(1.0, rel=1e-12)


def test_nothing_measured_gives_no_row() -> None:
    assert b_eff(frame([])) == []
    assert b_eff(frame([{"pattern": "pingpong", "samples_s": [1.0]}])) == []
    assert only([{"axes": "method=sendrecv,ring=1", "samples_s": [1.0], "ranks": 1}])["missing"]


def test_ranks_libraries_and_seeds_are_apart() -> None:
    rows = made_up(lambda *_: 1.0)
    other = [row | {"ranks": 8} for row in rows]
    seeded = [row | {"axes": row["axes"] + ",seed=7"} for row in rows]
    found = b_eff(frame(rows + other + seeded))
    assert sorted((row["ranks"], row["seed"]) for row in found) == [(4, "1"), (4, "7"), (8, "1")]


def test_curves_hold_the_best_method_of_each_length() -> None:
    def rate(ring: int, method: str, size: int, launch: int) -> float:
        level = (2.0 if ring <= 6 else 1.0) * (METHODS.index(method) + 1)
        return level * (1 + 0.01 * launch)

    shown = curves(rates(frame(made_up(rate, launches=3))))
    for kind, level in (("rings", 6.0), ("random", 3.0)):
        found = shown.filter(kind=kind)
        wanted = launch_interval([level, 1.01 * level, 1.02 * level])
        assert found["bytes"].to_list() == LENGTHS
        assert found["rate_Bps"].to_list() == pytest.approx([1.02 * level] * 21, rel=1e-12)
        assert found["low_Bps"].to_list() == pytest.approx([wanted.low] * 21, rel=1e-9)
        assert found["high_Bps"].to_list() == pytest.approx([wanted.high] * 21, rel=1e-9)
        assert set(found["launches"]) == {3}


def test_curves_of_parts_are_drawn_as_far_as_they_go() -> None:
    rows = made_up(lambda *_: 1.0)[:1] + made_up(lambda *_: 1.0, launches=2)[-1:]
    shown = curves(rates(frame(rows)))
    assert shown.select("kind", "bytes", "low_Bps", "rate_Bps", "high_Bps", "launches").rows() == [
        ("rings", 1, 1.0, 1.0, 1.0, 1),
        ("random", LONGEST, 1.0, 1.0, 1.0, 1),
    ]
    assert curves(rates(frame([]))).is_empty()


def test_pingpong_of_the_same_run_stands_beside() -> None:
    pair = {"pattern": "pingpong", "ranks": 2}
    measurements = frame(
        [
            pair | {"bytes": size, "bytes_per_time": size, "launch": launch, "samples_s": [time_s]}
            for launch in (0, 1)
            for size, time_s in ((0, 1e-6), (1000, 2e-6), (8000, 10e-6))
        ]
        + [pair | {"run": "other", "bytes": 0, "samples_s": [1e-9]}]
    )
    row = {"run": "run", "transport": "model", "mpi": "", "ranks": 4, "placement": "cores"}
    found = pingpong(summarise(measurements), row)
    assert found["pingpong_latency_s"] == pytest.approx(1e-6)
    assert found["pingpong_latency_s_ci"] == pytest.approx([1e-6, 1e-6])
    assert found["pingpong_bandwidth_Bps"] == pytest.approx(8e8)
    assert found["pingpong_bandwidth_Bps_ci"] == pytest.approx([8e8, 8e8])
    assert pingpong(summarise(measurements), row | {"run": "neither"}) == {}
