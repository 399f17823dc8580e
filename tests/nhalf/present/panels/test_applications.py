"""Panels of applications, of runs whose times are known."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import pytest

from nhalf.present.panels import Panel, Table
from nhalf.present.panels.applications import (
    PERFECT,
    ApplicationCommunication,
    ApplicationParts,
    ApplicationShapes,
    ApplicationSpeedup,
    ApplicationTimes,
)
from tests.nhalf.applied import Ran, applied

RUNS = {
    Ran("cg", "mpich", 1): 8.0, Ran("cg", "mpich", 2): 4.0, Ran("cg", "", 1): 8.0,
    Ran("cg", "", 2): 5.0,
}  # fmt: skip


def drawn(panel: Panel, *arguments: Any, **others: Any) -> list[dict[str, Any]]:
    chart = panel.render(applied(*arguments, **others))
    assert isinstance(chart, alt.TopLevelMixin)
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def test_speedups_stand_beside_what_would_be_perfect() -> None:
    rows = drawn(ApplicationSpeedup(), RUNS)
    at_two = {row["kind"]: row["speedup"] for row in rows if row["workers"] == 2}
    assert at_two == {"MPICH": 2.0, "OpenMP": 1.6, PERFECT: 2}
    assert {row["name"] for row in rows} == {"cg.A"}
    assert {row["base"] for row in rows if "base" in row} == {"one"}


def test_a_speedup_says_against_what_it_is_where_one_was_not_measured() -> None:
    rows = drawn(ApplicationSpeedup(), {Ran("cg", workers=2): 8.0, Ran("cg", workers=4): 5.0})
    assert {row["base"] for row in rows if "base" in row} == {"2, taken as 2 times as fast as one"}


def test_times_are_multiples_of_the_fastest_on_as_many() -> None:
    rows = drawn(ApplicationTimes(), RUNS)
    assert {(row["on"], row["kind"]): row["ratio"] for row in rows} == {
        ("1", "MPICH"): 1, ("1", "OpenMP"): 1, ("2", "MPICH"): 1, ("2", "OpenMP"): 1.25,
    }  # fmt: skip
    assert all(row["low"] <= row["ratio"] <= row["high"] for row in rows)


@pytest.mark.parametrize("slower", [1.02, 1.2, 1.9, 2.0, 30.0])
def test_the_axis_of_times_has_ticks_between_the_fastest_and_the_slowest(slower: float) -> None:
    runs = {Ran("cg", "mpich", 2): 4.0, Ran("cg", "", 2): 4.0 * slower}
    chart = ApplicationTimes().render(applied(runs))
    assert isinstance(chart, alt.TopLevelMixin)
    found = re.findall(r"'values': (\[1[^\]]*\])", str(chart.to_dict()))
    ticks = [float(text) for text in found[0].strip("[]").split(",")]
    assert ticks[0] == 1
    assert ticks[-1] >= slower
    assert len([tick for tick in ticks if tick <= max(slower, 1.2)]) >= 2


def test_shapes_stand_side_by_side() -> None:
    shapes = {Ran("cg", workers=8, placement=shape): 4.0 for shape in ("8x1", "4x2", "2x4")}
    table = ApplicationShapes().render(applied({**shapes, Ran("cg", "mpich", 8, "1x8"): 6.0}))
    assert isinstance(table, Table)
    assert table.columns == ["kernel", "run by", "ranks", "1x8", "2x4", "4x2", "8x1"]
    assert table.rows == [
        ["cg.A", "MPICH", "8", "6 s (1.50x)", "4 s (1.00x)", "4 s (1.00x)", "4 s (1.00x)"]
    ]


def test_the_share_of_communication_is_drawn_where_somebody_waits() -> None:
    rows = drawn(ApplicationCommunication(), RUNS, share=0.25)
    assert {(row["on"], row["kind"], row["share"]) for row in rows} == {
        ("2", "MPICH", 0.25), ("2", "OpenMP", 0.25),
    }  # fmt: skip
    assert ApplicationCommunication().render(applied(RUNS, share=None)) is None


def test_parts_stand_beside_the_library_as_it_is() -> None:
    runs = {Ran("cg", "mpich", 2): 4.0, Ran("cg", "mpich+tournament", 2): 2.0}
    (row,) = drawn(ApplicationParts(), runs)
    assert (row["name"], row["kind"], row["ratio"]) == ("cg.A", "tournament", 2.0)
    assert row["on"] == "MPICH, 2 ranks"


@pytest.mark.parametrize("panel", [ApplicationSpeedup(), ApplicationTimes(), ApplicationShapes()])
def test_one_way_alone_is_no_picture(panel: Panel) -> None:
    assert panel.render(applied({Ran("cg"): 1.0})) is None
