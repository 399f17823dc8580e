"""Sizes for which lines are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl

from nhalf.present.charts.curves import COLOURS, lines, some_sizes

Make = Callable[..., pl.LazyFrame]


def test_sizes_shown_are_first_last_and_between() -> None:
    assert some_sizes([]) == []
    assert some_sizes([8, 0, 8]) == [0, 8]
    assert some_sizes(list(range(100))) == [0, 25, 50, 74, 99]


def chart_of(kinds: list[str]) -> dict[str, Any]:
    rows = [{"kind": kind, "bytes": 8, "s": 1.0, "of": "a"} for kind in kinds]
    axes = alt.X("bytes:Q"), alt.Y("s:Q")
    spec: dict[str, Any] = lines(rows, axes, ("of", ["a"]), [], kinds).to_dict()
    return spec


def test_no_two_lines_have_the_same_colour_and_dashes() -> None:
    kinds = [f"kind {number}" for number in range(10)]
    stroke = chart_of(kinds)["spec"]["layer"][0]["encoding"]["strokeDash"]["scale"]
    drawn = [(place % COLOURS, *stroke["range"][place]) for place in range(len(kinds))]
    assert stroke["domain"] == kinds
    assert len(set(drawn)) == len(kinds)
    assert "strokeDash" not in chart_of(kinds[:COLOURS])["spec"]["layer"][0]["encoding"]


def test_a_kind_of_the_legend_can_be_picked() -> None:
    spec = chart_of(["a", "b"])
    assert [(one["name"], one["bind"]) for one in spec["params"]] == [("picked", "legend")]
    assert spec["spec"]["layer"][0]["encoding"]["opacity"]["condition"][0]["param"] == "picked"
