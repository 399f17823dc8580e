"""Named values of points."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.statistics.summary import summarise
from nhalf.store.keys import value

Make = Callable[..., pl.LazyFrame]


def test_a_value_that_a_point_lacks_is_null(make_measurements: Make) -> None:
    summary = summarise(make_measurements(sizes=(8,), values=[{"name": "b", "value": 2.0}]))
    assert summary.select(value("b"), value("a")).row(0) == (2.0, None)
