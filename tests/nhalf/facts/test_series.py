"""Curves, and points that are none."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.series import plain, series_names
from tests.nhalf.present.panels.drawing import drawn, rows_of
from tests.nhalf.present.panels.points import pairs_of_ranks, points

Make = Callable[..., pl.LazyFrame]


def test_points_with_axes_and_of_many_ranks_are_no_curves(make_measurements: Make) -> None:
    measured = pl.concat(
        [
            make_measurements(patterns=("pingpong", "pingpong-ssend"), sizes=(1, 8)),
            points(make_measurements, "distance", pairs_of_ranks(4)),
            points(make_measurements, "many-to-one", [""]),
            make_measurements(patterns=("allreduce",), sizes=(8,)),
            make_measurements(patterns=("stream",), sizes=(8,), axes="window=4"),
        ]
    )
    data = Facts(measured)
    kept = plain(data.summary, data)
    assert set(kept["pattern"]) == {"pingpong", "pingpong-ssend"}
    assert set(plain(data.launches, data)["pattern"]) == {"pingpong", "pingpong-ssend"}
    for name in ("latency", "bandwidth"):
        assert {row["pattern"] for row in rows_of(drawn(name, data))} <= set(kept["pattern"])


def test_axes_do_not_make_series_of_their_own(make_measurements: Make) -> None:
    data = Facts(points(make_measurements, "distance", pairs_of_ranks(5)))
    assert series_names(data) == ["mpich"]
