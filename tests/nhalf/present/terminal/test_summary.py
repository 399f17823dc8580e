# SPDX-License-Identifier: Apache-2.0
"""The table that a run ends with."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview
from nhalf.present.terminal.summary import overview_table


@pytest.mark.parametrize(("launches", "told"), [(1, False), (2, True), (5, True)])
def test_one_launch_shows_no_interval(
    make_measurements: Callable[..., pl.LazyFrame], launches: int, told: bool
) -> None:
    """However narrow its samples are: they do not show how much launches differ."""
    table = overview_table(overview(Facts(make_measurements(launches=launches), {}, {})))
    cells = list(table.columns[2].cells)
    assert cells
    assert all((cell != "–") == told for cell in cells)
