"""The effective bandwidth as tables, lines, pictures and findings show it."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from nhalf.present.panels import Table
from nhalf.present.panels.messages import Bandwidth
from nhalf.present.panels.traffic import BEff, BEffCurves
from nhalf.results.b_eff import EffectiveBandwidth

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
