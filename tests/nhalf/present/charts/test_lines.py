# SPDX-License-Identifier: Apache-2.0
"""Sizes for which lines are drawn."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.present.charts.lines import some_sizes

Make = Callable[..., pl.LazyFrame]


def test_sizes_shown_are_first_last_and_between() -> None:
    assert some_sizes([]) == []
    assert some_sizes([8, 0, 8]) == [0, 8]
    assert some_sizes(list(range(100))) == [0, 25, 50, 74, 99]
