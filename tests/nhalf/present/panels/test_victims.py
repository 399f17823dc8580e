"""The panel of victims: ratios, intervals and tails that were put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel

Make = Callable[..., pl.LazyFrame]
QUIET_S = 5e-6
VICTIMS = load("nhalf.present.panels", Panel)["victims"]


def victims(make: Make, load_axis: str, factor: float, **more: Any) -> pl.LazyFrame:
    """Operations, of which 1 in 50 takes 8 times as long beside a load."""
    tail = 1.0 if load_axis == "none" else 8.0
    samples_s = [QUIET_S * factor * (tail if number % 50 == 7 else 1.0) for number in range(1000)]
    axes = ",".join(["load=" + load_axis, more.pop("of", "of=allreduce"), "victims=4"])
    given = {"launches": 3, "sizes": (8,), **more}
    return make(patterns=("victim",), ranks=8, axes=axes, samples_s=samples_s, noise=0.0, **given)


def drawn(frames: Sequence[pl.LazyFrame]) -> list[dict[str, Any]]:
    chart = VICTIMS().render(Facts(pl.concat(frames)))
    assert isinstance(chart, alt.TopLevelMixin)
    spec = chart.to_dict()
    vl_convert.vegalite_to_svg(spec)
    [rows] = spec["datasets"].values()
    found: list[dict[str, Any]] = rows
    return found


def test_ratios_and_tails_are_those_that_were_put_in(make_measurements: Make) -> None:
    rows = drawn(
        [
            victims(make_measurements, "none", 1.0),
            victims(make_measurements, "alltoall", 3.0),
            victims(make_measurements, "incast", 1.05),
        ]
    )
    assert [(row["name"], row["kind"]) for row in rows] == [
        ("alltoall of 4 KiB", "all operations"),
        ("alltoall of 4 KiB", "slowest 1 %"),
        ("incast of 4 KiB", "all operations"),
        ("incast of 4 KiB", "slowest 1 %"),
    ]
    assert [row["ratio"] for row in rows] == pytest.approx([3, 24, 1.05, 8.4])
    assert {row["victim"] for row in rows} == {"mpich: allreduce of 8 B, 4 of 8 ranks"}
    assert (rows[0]["quiet"], rows[0]["loaded"], rows[0]["times"]) == ("5 µs", "15 µs", "3.0x")
    assert (rows[1]["quiet"], rows[1]["loaded"], rows[1]["times"]) == ("5 µs", "120 µs", "24x")


def test_a_window_of_messages_has_a_rate(make_measurements: Make) -> None:
    rows = drawn(
        [
            victims(make_measurements, name, factor, of="of=ring-window", sizes=(65536,))
            for name, factor in (("none", 1.0), ("incast", 2.0))
        ]
    )
    assert rows[0]["quiet"] == "5 µs per message, 13.1 GB/s"
    assert rows[0]["loaded"] == "10 µs per message, 6.55 GB/s"


def test_without_both_states_there_is_no_panel(make_measurements: Make) -> None:
    for frame in (
        victims(make_measurements, "incast", 2.0),
        victims(make_measurements, "none", 1.0),
        make_measurements(),
    ):
        assert VICTIMS().render(Facts(frame)) is None
