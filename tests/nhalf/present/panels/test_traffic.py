"""Panels of traffic, from a machine that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel

Make = Callable[..., pl.LazyFrame]
PANELS = load("nhalf.present.panels", Panel)


def drawn(name: str, *frames: pl.LazyFrame) -> list[dict[str, Any]]:
    measurements = pl.concat(frames)
    chart = PANELS[name]().render(Facts(measurements))
    assert isinstance(chart, alt.TopLevelMixin)
    spec = chart.to_dict()
    vl_convert.vegalite_to_svg(spec)
    [rows] = [rows for rows in spec["datasets"].values() if len(rows) > 1 or "kind" in rows[0]]
    found: list[dict[str, Any]] = rows
    return found


@pytest.mark.parametrize("name", ["traffic", "traffic-delay"])
def test_nothing_is_shown_where_nothing_was_offered(
    name: str, make_measurements: Make, make_traffic: Make
) -> None:
    for measurements in (make_measurements(), make_traffic(loads=(0,)), make_traffic(sizes=(0,))):
        data = Facts(measurements)
        assert PANELS[name]().render(data) is None


def test_rates_are_those_of_one_sender(make_traffic: Make) -> None:
    rows = drawn("traffic", make_traffic(senders=2, loads=(0, 50, 150)))
    assert [row["load"] for row in rows] == [50, 150]
    assert [row["offered"] for row in rows] == pytest.approx([2e9, 6e9])
    assert [row["accepted"] for row in rows] == pytest.approx([2e9, 3.6e9])
    assert rows[1]["share"] == "60 % (60 to 60 %)"
    assert drawn("traffic", make_traffic(launches=1))[0]["share"] == "100 %"


def test_of_the_stages_of_a_rule_the_slowest_is_drawn(make_traffic: Make) -> None:
    rows = drawn(
        "traffic",
        make_traffic(to="cube"),
        make_traffic(to="cube", axes="distance=4,", saturated_Bps=5e9),
        make_traffic(to="cube", axes="distance=1,", saturated_Bps=7e9),
        make_traffic(),
    )
    assert {row["kind"] for row in rows} == {"cube 4", "uniform"}


def test_sizes_and_laws_are_chosen_one_at_a_time(make_traffic: Make) -> None:
    rows = drawn(
        "traffic",
        make_traffic(sizes=(1024, 16384)),
        make_traffic(axes="gap_law=uniform,"),
        make_traffic(axes="scope=on-node,seed=4,size_law=fixed,"),
    )
    assert list(dict.fromkeys(row["setting"] for row in rows)) == [
        "1 KiB",
        "16 KiB",
        "16 KiB, uniform pauses",
        "16 KiB, fixed sizes, on-node, seed 4",
    ]


def test_waiting_times_are_drawn_over_loads(make_traffic: Make) -> None:
    rows = drawn("traffic-delay", make_traffic(), make_traffic(to="shuffle"))
    assert [row["delay"] for row in rows if row["kind"] == "shuffle"] == pytest.approx(
        [10e-6, 25e-6, 50e-6, 75e-6, 100e-6, 150e-6]
    )


def test_a_message_that_never_waits_has_no_place_on_a_logarithmic_axis(make_traffic: Make) -> None:
    still = [{"name": name, "value": value} for name, value in NO_DELAY.items()]
    measurements = make_traffic().with_columns(values=pl.lit(pl.Series([still])).first())
    data = Facts(measurements)
    assert PANELS["traffic-delay"]().render(data) is None
    assert PANELS["traffic"]().render(data) is not None


NO_DELAY = {
    "delay_s": 0.0,
    "last_delay_s": 0.0,
    "messages": 128.0,
    "offered_Bps": 1e9,
    "saturated_Bps": 2e9,
    "senders": 4.0,
}
