"""The rows and lines of traffic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.results import kinds, parts, results
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
