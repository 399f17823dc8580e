"""Panels of LogP, from parameters that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table

Make = Callable[..., pl.LazyFrame]
PANELS = load("nhalf.present.panels", Panel)
OURS = ("logp", "logp-parameters", "logp-doubts")


def report(*frames: pl.LazyFrame, **more: Any) -> Facts:
    measurements = pl.concat(frames)
    return Facts(measurements, **more)


def drawn(data: Facts) -> list[dict[str, Any]]:
    chart = PANELS["logp"]().render(data)
    assert isinstance(chart, alt.TopLevelMixin)
    spec = chart.to_dict()
    vl_convert.vegalite_to_svg(spec)
    [rows] = spec["datasets"].values()
    found: list[dict[str, Any]] = rows
    return found


def table_of(name: str, data: Facts) -> Table:
    table = PANELS[name]().render(data)
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("name", OURS)
def test_nothing_is_shown_without_the_patterns(name: str, make_measurements: Make) -> None:
    assert PANELS[name]().render(report(make_measurements())) is None


def test_curves_show_what_was_measured(make_logp: Make) -> None:
    titles = {"mpich": "MPICH <i>", "other": "Other"}
    rows = drawn(report(make_logp(), make_logp(mpi="other", g=9e-6), titles=titles))
    assert {row["series"] for row in rows} == {"MPICH <i>", "Other"}
    found = {(row["series"], row["quantity"], row["bytes"]): row["value"] for row in rows}
    assert len(found) == 2 * 3 * 4
    assert found["Other", "g, gap", 4096] == pytest.approx(9e-6 + 4096e-9, rel=1e-4)
    assert found["MPICH <i>", "o_s, send", 4096] == 1e-6
    assert found["MPICH <i>", "o_r, receive", 0] == 2e-6


def test_what_is_not_above_0_is_not_drawn(make_logp: Make) -> None:
    rows = drawn(report(make_logp(o_s=0.0)))
    assert {row["quantity"] for row in rows} == {"o_r, receive", "g, gap"}
    nothing = report(make_logp(o_s=0.0, o_r=0.0, g=0.0, L=0.0, G=0.0))
    assert PANELS["logp"]().render(nothing) is None


def test_placements_and_ranks_stand_apart(make_logp: Make) -> None:
    near, far = make_logp(placement="near"), make_logp(placement="far", L=9e-6)
    rows = drawn(report(near, far))
    assert {row["series"] for row in rows} == {"mpich, near", "mpich, far"}


def test_the_table_has_a_column_for_each_library(make_logp: Make) -> None:
    table = table_of("logp-parameters", report(make_logp(), make_logp(mpi="other", L=7e-6)))
    assert table.columns == ["", "what it is", "mpich", "other"]
    cells = {row[0]: row[2:] for row in table.rows}
    assert cells["L"] == ["5 µs ±0 %", "7 µs ±0 %"]
    assert cells["1/G"] == ["1 GB/s ±0 %", "1 GB/s ±0 %"]
    assert all(row[1] for row in table.rows)


def test_a_latency_that_cannot_be_told_is_not_shown_as_one(make_logp: Make) -> None:
    data = report(make_logp(o_s=4e-6, o_r=3e-6, L=-2e-6))
    cells = {row[0]: row[2] for row in table_of("logp-parameters", data).rows}
    assert cells["L"] == "not above 0"
    assert cells["RTT/2"] == "5 µs ±0 %"
    said = [row[1] for row in table_of("logp-doubts", data).rows]
    assert said[0].startswith("L is indistinguishable from 0 (-2 µs")
    assert said[0].endswith("5 µs, interval 5 µs to 5 µs.")


def test_no_doubts_no_panel(make_logp: Make) -> None:
    assert PANELS["logp-doubts"]().render(report(make_logp())) is None


def test_a_run_with_some_of_the_patterns_says_what_it_lacks(make_logp: Make) -> None:
    data = report(make_logp().filter(pl.col("pattern") == "gap"))
    cells = {row[0]: row[2] for row in table_of("logp-parameters", data).rows}
    assert set(cells.values()) == {"–"}
    (said,) = table_of("logp-doubts", data).rows
    assert "overhead-recv of 1 B were not measured" in said[1]
