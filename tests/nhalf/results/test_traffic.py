"""The rows and lines of traffic.

Traffic on a machine that accepts all up to 90 % of what goes through without pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.results import kinds, parts, results
from nhalf.results.traffic import (
    Traffic,
    curves,
    launches,
    per_sender,
    rule_name,
    saturation_percent,
    traffic,
)
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]


def rows_of(measurements: pl.LazyFrame) -> list[dict[str, Any]]:
    return results(measurements, summarise(measurements)).get("traffic", [])


def test_without_traffic_there_is_no_row(make_measurements: Make) -> None:
    assert rows_of(make_measurements()) == []
    assert "traffic" in parts()


def test_rows_are_plain_values(make_traffic: Make) -> None:
    rows = rows_of(make_traffic())
    assert msgspec.json.decode(msgspec.json.encode(rows)) == rows
    assert (rows[0]["rule"], rows[0]["transport"], rows[0]["ranks"]) == ("uniform", "mpi", 4)


@pytest.mark.parametrize(
    ("machine", "line"),
    [
        (
            {"to": "shuffle"},
            "Traffic by shuffle, 16 KiB: 8 GB/s ±0 % without pauses, accepted up to 88 % of that "
            "(interval 88 to 88 %)",
        ),
        (
            {"launches": 1},
            "Traffic to uniform ranks, 16 KiB: 8 GB/s without pauses, accepted up to 88 % of that",
        ),
        (
            {"knee": 0.05},
            "Traffic to uniform ranks, 16 KiB: 8 GB/s ±0 % without pauses, not all of it is "
            "accepted even at 10 %",
        ),
        (
            {"knee": 2.0},
            "Traffic to uniform ranks, 16 KiB: 8 GB/s ±0 % without pauses; it is not saturated at "
            "150 % of its load: offer more with --axis load",
        ),
        (
            {"loads": (10, 50), "axes": "gap_law=fixed,scope=off-node,"},
            "Traffic to uniform ranks, 16 KiB, fixed pauses, off-node: 8 GB/s ±0 % without pauses; "
            "it is not saturated at 50 % of its load: offer more with --axis load",
        ),
        (
            {"loads": (0,)},
            "Traffic to uniform ranks, 16 KiB: 8 GB/s ±0 % without pauses; no load was offered: "
            "give --axis load=25,50,100",
        ),
    ],
)
def test_the_line_says_what_goes_through(
    make_traffic: Make, machine: dict[str, Any], line: str
) -> None:
    (row,) = rows_of(make_traffic(**machine))
    assert kinds()["traffic"].line(row) == line


def test_nothing_measured_nothing_found(make_measurements: Make, make_traffic: Make) -> None:
    assert traffic(make_measurements()) == []
    assert traffic(make_traffic(verified=False)) == []
    assert traffic(make_traffic().filter(pl.col("launch") > 99)) == []


def test_each_load_says_what_was_offered_and_accepted(make_traffic: Make) -> None:
    (row,) = traffic(make_traffic())
    assert [load["load_percent"] for load in row["loads"]] == [10, 25, 50, 75, 100, 150]
    assert [load["offered_Bps"] for load in row["loads"]] == pytest.approx(
        [0.8e9, 2e9, 4e9, 6e9, 8e9, 12e9]
    )
    assert [load["accepted_Bps"] for load in row["loads"]] == pytest.approx(
        [0.8e9, 2e9, 4e9, 6e9, 7.2e9, 7.2e9]
    )
    assert [load["accepted_share"] for load in row["loads"]] == pytest.approx(
        [1, 1, 1, 1, 0.9, 0.6]
    )
    assert row["loads"][-1]["accepted_share_ci"] == pytest.approx([0.6, 0.6])
    assert row["loads"][1]["delay_s"] == pytest.approx(25e-6)
    assert (row["messages"], row["senders"], row["launches"]) == (512, 4, 3)
    assert (row["saturated_Bps"], row["missing"]) == (8e9, "")


def test_the_saturation_point_lies_where_5_percent_are_lost(make_traffic: Make) -> None:
    # From 1 at 75 % to 0.9 at 100 %: 0.95 in the middle.
    (row,) = traffic(make_traffic())
    assert row["saturation_percent"] == pytest.approx(87.5)
    assert row["saturation_percent_ci"] == pytest.approx([87.5, 87.5])
    (row,) = traffic(make_traffic(launches=1))
    assert row["saturation_percent"] == pytest.approx(87.5)
    assert "saturation_percent_ci" not in row


@pytest.mark.parametrize(
    ("shares", "found"),
    [
        ([], None),
        ([1.0, 1.0, 0.95], None),
        ([0.94, 1.0, 1.0], 10),
        ([1.0, 0.95, 0.9], 20),
        ([1.0, 0.9, 1.0], 15),
        ([0.96, 0.96, 0.94], 25),
    ],
)
def test_saturation_between_loads(shares: list[float], found: float | None) -> None:
    assert saturation_percent([10, 20, 30][: len(shares)], shares) == (
        None if found is None else pytest.approx(found)
    )


def test_where_it_is_not_saturated_the_row_says_what_to_do(make_traffic: Make) -> None:
    (row,) = traffic(make_traffic(loads=(10, 75)))
    assert row["saturation_percent"] is None
    assert row["missing"] == (
        "it is not saturated at 75 % of its load: offer more with --axis load"
    )
    (row,) = traffic(make_traffic(loads=(0,)))
    assert row["saturation_percent"] is None
    assert row["missing"].startswith("no load was offered")
    assert row["saturated_Bps"] == 8e9
    assert row["loads"] == [
        {
            "load_percent": 0,
            "offered_Bps": None,
            "last_delay_s": None,
            "accepted_Bps": pytest.approx(8e9),
            "accepted_Bps_ci": pytest.approx([8e9, 8e9]),
            "accepted_share": None,
            "delay_s": None,
        }
    ]


def test_most_launches_decide_whether_it_is_saturated(make_traffic: Make) -> None:
    free, full = make_traffic(knee=2.0), make_traffic(knee=0.9)
    few = pl.concat([free.filter(pl.col("launch") < 2), full.filter(pl.col("launch") == 2)])
    assert traffic(few)[0]["saturation_percent"] is None
    most = pl.concat([free.filter(pl.col("launch") < 1), full.filter(pl.col("launch") >= 1)])
    assert traffic(most)[0]["saturation_percent"] == pytest.approx(87.5)


def test_an_interval_does_not_leave_what_was_offered(make_traffic: Make) -> None:
    early = make_traffic(knee=0.2).filter(pl.col("launch") == 0)
    late = make_traffic(knee=1.3).filter(pl.col("launch") > 0)
    (row,) = traffic(pl.concat([early, late]))
    low, high = row["saturation_percent_ci"]
    assert low >= 10
    assert high == 150


def test_rules_sizes_laws_and_libraries_have_rows_of_their_own(make_traffic: Make) -> None:
    rows = traffic(
        pl.concat(
            [
                make_traffic(sizes=(1024, 16384)),
                make_traffic(to="cube"),
                make_traffic(to="cube", axes="distance=4,"),
                make_traffic(axes="gap_law=uniform,"),
                make_traffic(mpi="other"),
            ]
        )
    )
    names = [(row["mpi"], rule_name(row), row["bytes"], row["gap_law"]) for row in rows]
    assert sorted(names) == [
        ("mpich", "cube 2", 16384, "exponential"),
        ("mpich", "cube 4", 16384, "exponential"),
        ("mpich", "uniform", 1024, "exponential"),
        ("mpich", "uniform", 16384, "exponential"),
        ("mpich", "uniform", 16384, "uniform"),
        ("other", "uniform", 16384, "exponential"),
    ]


def test_rates_per_sender_are_those_of_each_launch(make_traffic: Make) -> None:
    rates = per_sender(launches(make_traffic(senders=2)))
    assert rates["launch"].to_list() == [0, 1, 2]
    assert rates["per_sender_Bps"].to_list() == [4e9] * 3


def test_curves_have_a_row_per_load(make_traffic: Make) -> None:
    found = curves(launches(make_traffic()))
    assert found["load_percent"].to_list() == [10, 25, 50, 75, 100, 150]
    assert found["accepted_Bps_low"].to_list() == pytest.approx(found["accepted_Bps"].to_list())


def test_no_more_than_everything_is_accepted(make_traffic: Make) -> None:
    frames = [
        make_traffic(knee=knee, loads=(100,)).filter(pl.col("launch") == launch)
        for launch, knee in enumerate((0.5, 0.9, 1.0))
    ]
    (row,) = traffic(pl.concat(frames))
    low, high = row["loads"][0]["accepted_share_ci"]
    assert low < 0.5
    assert high == 1


def test_both_parts_of_a_mixed_traffic_are_told(make_traffic: Make) -> None:
    (row,) = traffic(make_traffic(on_node_share=0.25, loads=(50, 150)))
    assert row["on_node_share"] == 0.25
    for load in row["loads"]:
        assert load["on_node_accepted_Bps"] == pytest.approx(load["accepted_Bps"] / 4)
        parts = load["on_node_accepted_Bps"] + load["off_node_accepted_Bps"]
        assert parts == pytest.approx(load["accepted_Bps"])
    line = Traffic().line({**row, "rule": "uniform", "setting": "16 KiB"})
    assert "without pauses (on-node 2 GB/s, off-node 6 GB/s)" in line


def test_a_distance_that_is_left_out_is_that_of_the_probe(make_traffic: Make) -> None:
    """Probes of version 0.1 took the second stage, and told no share of what stays on a node."""
    (former,) = traffic(make_traffic(to="cube"))
    assert rule_name(former) == "cube 2"
    (today,) = traffic(make_traffic(to="cube", on_node_share=1.0))
    assert rule_name(today) == "cube, highest stage"
    (every,) = traffic(make_traffic(to="cube", axes="distance=all,", on_node_share=1.0))
    assert rule_name(every) == "cube, all stages"
