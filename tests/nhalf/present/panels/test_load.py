"""Panels of pairs that communicate at the same time."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from tests.nhalf.present.panels.drawing import PANELS, drawn, rows_of
from tests.nhalf.present.panels.points import points

Make = Callable[..., pl.LazyFrame]


def test_load_is_relative_to_one_pair_in_the_same_launch(make_measurements: Make) -> None:
    axes = ["pairs=1", "pairs=2", "pairs=4"]
    measured = points(make_measurements, "pairs-latency", axes, ranks=8, sizes=(8,))
    rows = rows_of(drawn("load", Facts(measured)))
    assert {row["pairs"]: row["ratio"] for row in rows} == pytest.approx({1: 1, 2: 1.1, 4: 1.2})


def test_load_needs_one_pair_alone_and_several(make_measurements: Make) -> None:
    for axes in (["pairs=1"], ["pairs=2", "pairs=4"]):
        data = Facts(points(make_measurements, "pairs-latency", axes, ranks=8))
        assert PANELS["load"]().render(data) is None


def test_bandwidth_of_pairs_is_that_of_all(make_measurements: Make) -> None:
    axes = ["pairs=1", "pairs=2"]
    measured = points(
        make_measurements, "pairs-bandwidth", axes, sizes=(5000,), bytes_per_time=10000
    )
    rows = rows_of(drawn("load-bandwidth", Facts(measured)))
    assert [row["rate"] for row in rows] == pytest.approx([5e9, 5e9 / 1.1], rel=1e-3)
    assert rows[1]["each"] == "2.27 GB/s"
