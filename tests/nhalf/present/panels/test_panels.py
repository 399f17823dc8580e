from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.panels import Table
from nhalf.statistics.summary import summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS, SUMMARY_COLUMNS
from tests.nhalf.present.panels.drawing import PANELS, drawn, rows_of

Make = Callable[..., pl.LazyFrame]
MODES = ("pingpong", "pingpong-ssend", "pingpong-diffbuf")


def report_data(measurements: pl.LazyFrame, **more: Any) -> Facts:
    return Facts(measurements, **more)


def test_every_panel_says_what_it_is() -> None:
    for name, panel in PANELS.items():
        assert panel.title, name
        assert panel.how_to_read.endswith("."), name
        assert panel.how_to_read.count(". ") == 0, f"{name}: one sentence"
        assert isinstance(panel.order, int), name


def test_every_panel_has_a_place_of_its_own() -> None:
    orders = [panel.order for panel in PANELS.values()]
    assert len(set(orders)) == len(orders)


def test_panels_that_the_report_promises_are_there() -> None:
    promised = {"latency", "bandwidth", "modes", "model", "launch-spread", "environment"}
    assert promised <= set(PANELS)


def test_no_data_no_panel() -> None:
    data = Facts(pl.DataFrame(schema=MEASUREMENT_COLUMNS).lazy())
    assert [name for name, panel in PANELS.items() if panel().render(data) is not None] == []


def test_legend_holds_what_is_drawn_and_colours_stay(make_measurements: Make) -> None:
    two = make_measurements(libraries=("b",), sizes=(8,))
    many = make_measurements(libraries=("a", "b"), patterns=("allreduce",), sizes=(8,))
    data = Facts(pl.concat([two, many]))
    color = drawn("latency", data)["layer"][0]["encoding"]["color"]
    assert color["scale"]["domain"] == ["a", "b"]
    assert color["legend"]["values"] == ["b"]


@pytest.mark.parametrize("name", ["distance", "load", "load-bandwidth", "fan", "dense"])
def test_panels_of_many_ranks_need_such_points(name: str, make_measurements: Make) -> None:
    measured = make_measurements(patterns=("pingpong", "allreduce"))
    assert PANELS[name]().render(Facts(measured)) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["latency", "bandwidth", "modes", "model", "launch-spread"])
def test_chart_shows_every_library_by_its_title(name: str, make_measurements: Make) -> None:
    titles = {"a": "Library A", "b": "<script>alert(1)</script>"}
    measured = make_measurements(libraries=("a", "b"), patterns=MODES)
    spec = drawn(name, report_data(measured, titles=titles))
    assert {row["series"] for row in rows_of(spec)} == set(titles.values())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["latency", "bandwidth", "modes", "model", "launch-spread"])
@pytest.mark.parametrize("sizes", [(0,), (1,), (0, 1), (0, 1, 2**40)])
@pytest.mark.parametrize("launches", [1, 2])
def test_degenerate_data_is_drawn_or_hidden(
    name: str, sizes: tuple[int, ...], launches: int, make_measurements: Make
) -> None:
    measured = make_measurements(sizes=sizes, launches=launches, samples=2, patterns=MODES)
    data = report_data(measured)
    if PANELS[name]().render(data) is not None:
        json.dumps(drawn(name, data), allow_nan=False)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("column", ["median_s", "ci_low_s", "ci_high_s"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
@pytest.mark.parametrize("name", ["latency", "bandwidth", "model"])
def test_numbers_that_are_none_are_left_out(
    name: str, column: str, value: float, make_measurements: Make
) -> None:
    measured = make_measurements(sizes=(1, 2, 4, 8))
    facts = Facts(measured)
    models = facts.models
    broken = facts.summary.with_columns(
        pl.when(pl.col("bytes") == 4).then(value).otherwise(pl.col(column)).alias(column)
    )
    spec = drawn(name, facts.with_known(summary=broken, models=models))
    json.dumps(spec, allow_nan=False)
    shown = {row["bytes"] for row in rows_of(spec) if row.get("kind", "measured") == "measured"}
    assert shown == ({1, 2, 8} if column == "median_s" else {1, 2, 4, 8})


@pytest.mark.parametrize("name", ["latency", "bandwidth"])
def test_interval_over_decades_does_not_flatten_the_chart(
    name: str, make_measurements: Make
) -> None:
    measured = make_measurements(sizes=(1, 1024))
    wide = summarise(measured).with_columns(ci_low_s=pl.lit(1e-30), ci_high_s=pl.lit(1e30))
    for row in rows_of(drawn(name, Facts(measured).with_known(summary=wide))):
        middle = row.get("median", row.get("median_rate"))
        low, high = row.get("low", row.get("low_rate")), row.get("high", row.get("high_rate"))
        assert low == pytest.approx(middle / common.DRAWN_FACTOR, rel=1e-3)
        assert middle < high <= middle * common.DRAWN_FACTOR * 1.001
        if name == "bandwidth":
            assert high <= 1.16 * 1024 / 1e-6


@pytest.mark.parametrize(
    ("value", "written"),
    [(float("nan"), None), (float("inf"), None), (1.23456789e-7, 1.2346e-7), (0.0, 0.0)],
)
def test_numbers_in_specifications_are_short_and_finite(
    value: float, written: float | None
) -> None:
    assert common.digits(value) == written


def test_zero_bytes_have_a_labelled_place(make_measurements: Make) -> None:
    spec = drawn("latency", report_data(make_measurements(sizes=(0, 1, 1024))))
    x = spec["layer"][0]["encoding"]["x"]
    assert x["scale"]["type"] == "symlog"
    assert 0 in x["axis"]["values"]
    assert 0 in {row["bytes"] for row in rows_of(spec)}


def test_bandwidth_is_bytes_over_time(make_measurements: Make) -> None:
    data = report_data(make_measurements(sizes=(0, 1000)))
    (row,) = rows_of(drawn("bandwidth", data))
    point = data.summary.filter(pl.col("bytes") == 1000).row(0, named=True)
    assert row["median_rate"] == pytest.approx(1000 / point["median_s"], rel=1e-4)
    assert row["low_rate"] == pytest.approx(1000 / point["ci_high_s"], rel=1e-4)
    assert row["low_rate"] <= row["median_rate"] <= row["high_rate"]


def test_modes_are_relative_to_the_standard_send(make_measurements: Make) -> None:
    measured = make_measurements(patterns=("pingpong", "pingpong-ssend"), sizes=(8,), noise=0)
    scaled = pl.col("samples_s").list.eval(pl.element() * 3)
    measured = measured.with_columns(
        samples_s=pl.when(pl.col("pattern") == "pingpong").then("samples_s").otherwise(scaled)
    )
    (row,) = rows_of(drawn("modes", report_data(measured)))
    assert row["kind"] == "synchronous (ssend)"
    assert row["ratio"] == pytest.approx(3, rel=0.15)


def test_modes_need_the_standard_send(make_measurements: Make) -> None:
    assert PANELS["modes"]().render(report_data(make_measurements(patterns=MODES[1:]))) is None


def test_model_panel_marks_the_bracket_of_a_switch(make_measurements: Make) -> None:
    measured = make_measurements(noise=0.001, launch_noise=0.001)
    doubled = pl.col("samples_s").list.eval(pl.element() * 2)
    measured = measured.with_columns(
        samples_s=pl.when(pl.col("bytes") > 4096).then(doubled).otherwise(pl.col("samples_s"))
    )
    rows = rows_of(drawn("model", report_data(measured)))
    switches = [(r["bytes"], r["until"]) for r in rows if r["kind"] == "switch"]
    assert switches == [(4096, 8192)]
    assert len({r["segment"] for r in rows if r["kind"] == "segment"}) == 2


def test_model_panel_hides_without_models(make_measurements: Make) -> None:
    measured = make_measurements()
    assert PANELS["model"]().render(Facts(measured).with_known(models=[])) is None


def test_spread_keeps_the_extremes_of_many_launches(make_measurements: Make) -> None:
    measured = make_measurements(sizes=(8,), launches=200, samples=2)
    data = report_data(measured)
    rows = rows_of(drawn("launch-spread", data))
    medians = data.launches["median_s"]
    assert len(rows) < 50
    deviations = [row["deviation"] for row in rows]
    assert max(deviations) == pytest.approx(medians.max() / medians.median() - 1, rel=1e-3)
    assert min(deviations) == pytest.approx(medians.min() / medians.median() - 1, rel=1e-3)


@pytest.mark.parametrize("name", ["launch-spread", "modes"])
def test_one_launch_gone_wild_does_not_flatten_the_others(
    name: str, make_measurements: Make
) -> None:
    measured = make_measurements(patterns=MODES, launches=2)
    wild = pl.col("samples_s").list.eval(pl.element() * 1e6)
    here = (pl.col("bytes") == 64) & (pl.col("pattern") == "pingpong") & (pl.col("launch") == 1)
    measured = measured.with_columns(
        samples_s=pl.when(here).then(wild).otherwise(pl.col("samples_s"))
    )
    spec = drawn(name, report_data(measured))
    scale = spec["spec"]["layer"][-1]["encoding"]["y"]["scale"]
    assert scale["clamp"] is True
    assert scale["domain"][1] < 2


def test_fine_grid_is_thinned_but_keeps_its_ends(make_measurements: Make) -> None:
    measured = make_measurements(sizes=tuple(range(0, 4000, 2)), launches=2, samples=2)
    rows = rows_of(drawn("latency", report_data(measured)))
    assert len(rows) <= common.SIZES_PER_SERIES_MAX + 1
    assert {0, 3998} <= {row["bytes"] for row in rows}


def test_series_differ_by_what_varies_only(make_measurements: Make) -> None:
    two = make_measurements(sizes=(1,))
    four = two.with_columns(ranks=pl.lit(4, pl.Int32))
    assert series_names(report_data(two)) == ["mpich"]
    both = series_names(report_data(pl.concat([two, four])))
    assert both == ["mpich, 2 ranks", "mpich, 4 ranks"]


def test_imprecise_points_are_listed_widest_first(make_measurements: Make) -> None:
    measured = make_measurements(sizes=tuple(range(1, 450)), samples=3, launch_noise=0.2)
    table = PANELS["interval-width"]().render(report_data(measured))
    assert isinstance(table, Table)
    assert all(len(row) == len(table.columns) for row in table.rows)
    widths = [float(row[4].strip("± %")) for row in table.rows[:-1]]
    assert widths == sorted(widths, reverse=True)
    assert table.rows[-1][0].startswith("and ")


def test_target_precision_comes_from_the_plan(make_measurements: Make) -> None:
    measured = make_measurements(sizes=(1,), launch_noise=0.2)
    data = report_data(measured, environments={"run": {"plan": {"precision": 50.0}}})
    assert PANELS["interval-width"]().render(data) is None


def test_environment_flattens_and_cuts() -> None:
    environments = {
        "run": {
            "cpu": {"model": "X" * 500, "cores": 2},
            "none": None,
            "pinned": True,
            "memory_bytes": 2**31,
        }
    }
    data = Facts(
        pl.DataFrame(schema=MEASUREMENT_COLUMNS).lazy(),
        pl.DataFrame(schema=SUMMARY_COLUMNS),
        environments=environments,
    )
    table = PANELS["environment"]().render(data)
    assert isinstance(table, Table)
    cells = {row[0]: row[1] for row in table.rows}
    assert len(cells["cpu model"]) <= 160
    assert cells["cpu cores"] == "2"
    assert cells["pinned"] == "yes"
    assert cells["memory"] == "2 GiB"
    assert "none" not in cells
