# SPDX-License-Identifier: Apache-2.0
"""The facts of a run, for exporters."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts


@pytest.fixture
def facts_of() -> Callable[[pl.LazyFrame], Facts]:
    """The facts of one run with these measurements, of which nothing more is known."""
    return lambda measurements: Facts(measurements, environments={"run": {}})
