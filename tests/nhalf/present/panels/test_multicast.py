"""Panels and findings of multicasts, on times that are known."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import METHODS, multicasts
from nhalf.present.findings import Finding, findings
from nhalf.present.panels import Panel, Table

Make = Callable[..., pl.LazyFrame]
PANELS = load("nhalf.present.panels", Panel)
SIZES = (0, 1024, 65536)


def time_s(method: str, forwarding: str, group: int, size_bytes: int) -> float:
    """Separate addressing is fastest where it is small, u-torus where it is large."""
    factor = {"separate": 1.0, "binomial": 1.5, "u-torus": 1.52}[method]
    slope = {"separate": 10.0, "binomial": 2.0, "u-torus": 1.0}[method] * size_bytes / 1e9
    return (factor * group * 1e-6 + slope) * (0.5 if forwarding == "nic" else 1.0)


def simulated(make: Make, **more: Any) -> pl.LazyFrame:
    frames = []
    for method, forwarding, group, size_bytes in itertools.product(
        more.pop("methods", ("separate", "binomial", "u-torus")),
        more.pop("forwardings", ("host", "nic")),
        (1, 3),
        SIZES,
    ):
        parts = more.get("parts", "")
        axes = f"algorithm={method},forwarding={forwarding},group={group}{parts}"
        values = {"host_cpu_s": 4e-6 if forwarding == "host" else 1e-6, "link_visits": 6.0}
        values |= {"links_used": 4.0, "link_concentration": 2.0}
        frame = make(
            patterns=("multicast",),
            libraries=("sci-torus",),
            sizes=(size_bytes,),
            launches=1,
            samples=1,
            transport="simulated",
            axes=axes,
            ranks=4,
            rank_s=[1e-6] * 4,
            values=[{"name": name, "value": value} for name, value in values.items()],
        )
        exact = [time_s(method, forwarding, group, size_bytes)]
        frames.append(frame.with_columns(samples_s=pl.lit(exact, dtype=pl.List(pl.Float64))))
    return pl.concat(frames)


def data_of(measured: pl.LazyFrame) -> Facts:
    return Facts(measured, titles={"sci-torus": "SCI torus"})


def told(data: Facts, kind: str) -> list[Finding]:
    return [finding for finding in findings(data) if finding.kind == kind]


def test_rows_have_the_values_of_their_points(make_measurements: Make) -> None:
    points = multicasts(data_of(simulated(make_measurements)))
    assert points.height == 3 * 2 * 2 * len(SIZES)
    for row in points.to_dicts():
        expected = time_s(row["method"], row["forwarding"], row["group"], row["bytes"])
        assert row["median_s"] == pytest.approx(expected)
        assert row["link_concentration"] == 2
        assert row["host_cpu_s"] == (4e-6 if row["forwarding"] == "host" else 1e-6)


def test_a_number_of_parts_is_a_way_of_its_own(make_measurements: Make) -> None:
    measured = simulated(make_measurements, methods=("u-torus",))
    other = measured.with_columns(axes=pl.col("axes") + ",parts=2")
    methods = multicasts(data_of(pl.concat([measured, other])))["method"]
    assert set(methods) == {"u-torus", "u-torus, r=2"}


def test_messages_in_pieces_are_a_way_of_their_own(make_measurements: Make) -> None:
    measured = simulated(make_measurements, methods=("u-torus",))
    cut = measured.with_columns(axes=pl.col("axes") + ",piece=8192")
    methods = multicasts(data_of(pl.concat([measured, cut])))["method"]
    assert set(methods) == {"u-torus", "u-torus, pieces of 8192 B"}


def test_draws_are_one_point_in_the_middle(make_measurements: Make) -> None:
    measured = simulated(make_measurements)
    doubled = pl.col("samples_s").list.eval(2 * pl.element())
    draw = (pl.lit("draw=2,") + pl.col("axes")).alias("axes")
    other = measured.with_columns(doubled, draw)
    one, both = (multicasts(data_of(frame)) for frame in (measured, pl.concat([measured, other])))
    assert both.height == one.height
    assert both["median_s"].to_list() == pytest.approx((1.5 * one["median_s"]).to_list())


def test_the_panel_has_a_line_for_each_way(make_measurements: Make) -> None:
    chart = PANELS["multicast"]().render(data_of(simulated(make_measurements)))
    assert chart is not None
    assert not isinstance(chart, Table)
    spec = chart.to_dict()
    json.dumps(spec, allow_nan=False)
    vl_convert.vegalite_to_svg(spec)
    rows = [row for rows in spec.get("datasets", {}).values() for row in rows]
    rows += spec.get("data", {}).get("values", [])
    assert {row["method"] for row in rows} == {"separate", "binomial", "u-torus"}
    assert {row["forwarding"] for row in rows} == {"host-based", "NIC-based"}
    assert rows[0]["setting"] == "0 B"
    dashes = next(
        layer["encoding"]["strokeDash"]["scale"]
        for layer in spec["spec"]["layer"]
        if "strokeDash" in layer["encoding"]
    )
    assert dashes["domain"] == [name for name in METHODS if name in {row["method"] for row in rows}]
    assert dashes["range"] == [[5, 3], [5, 3], [1, 0]]


def test_the_table_is_of_the_largest_group(make_measurements: Make) -> None:
    table = PANELS["multicast-cost"]().render(data_of(simulated(make_measurements)))
    assert isinstance(table, Table)
    shares = {"separate": (100, 67), "binomial": (89, 44), "u-torus": (88, 44)}
    assert [row[1:] for row in table.rows] == [
        [name, "3", "0 B", "4", "6", "2", f"4 µs ({host} %)", f"1 µs ({nic} %)"]
        for name, (host, nic) in shares.items()
    ]
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize("name", ["multicast", "multicast-cost"])
def test_without_multicasts_there_is_nothing(make_measurements: Make, name: str) -> None:
    assert PANELS[name]().render(data_of(make_measurements())) is None
    assert not [
        found for found in findings(data_of(make_measurements())) if "multicast" in found.kind
    ]


def test_the_fastest_way_changes_with_size(make_measurements: Make) -> None:
    host, adapter = told(data_of(simulated(make_measurements)), "multicast-fastest")
    assert host.text.startswith("SCI torus, host-based")
    assert adapter.text.startswith("SCI torus, NIC-based")
    for finding in (host, adapter):
        assert "to 3 destinations: separate is fastest for 0 B" in finding.text
        assert finding.text.endswith("; u-torus from 1 KiB on.")
        assert finding.value == pytest.approx(1.52)


def test_ways_that_are_as_fast_are_no_finding(make_measurements: Make) -> None:
    measured = simulated(make_measurements)
    same = measured.with_columns(samples_s=pl.lit([1e-6], dtype=pl.List(pl.Float64)))
    assert not told(data_of(same), "multicast-fastest")
    assert not told(
        data_of(simulated(make_measurements, methods=("separate",))), "multicast-fastest"
    )


def test_what_adapters_spare(make_measurements: Make) -> None:
    (finding,) = told(data_of(simulated(make_measurements)), "multicast-processor")
    assert finding.value == pytest.approx(4)
    assert " 1 µs" in finding.text
    assert "instead of 4 µs" in finding.text
    only = simulated(make_measurements, forwardings=("host",))
    assert not told(data_of(only), "multicast-processor")
