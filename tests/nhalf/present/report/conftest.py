"""A report with charts, tables, doubts and a name that is a script, for all tests in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.report.page import page

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def report(
    tmp_path_factory: pytest.TempPathFactory, make_measurements: Callable[..., pl.LazyFrame]
) -> Path:
    patterns = ("pingpong", "pingpong-ssend", "stream")
    measured = make_measurements(
        libraries=("a", "b", "c"),
        patterns=patterns,
        slower={"a": 2.0},
        launch_noise=0.05,
        advice=["unpinned"],
    )
    titles = {"a": EVIL, "b": "Open MPI 5.0.11 (wheel)", "c": "Intel MPI 2021.18.1 (wheel)"}
    environment = {"run": {"host": EVIL, "library": "A very long version text, " * 30}}
    data = Facts(measured, titles, environment)
    out = tmp_path_factory.mktemp("report") / "report.html"
    out.write_text(page(data), encoding="utf-8")
    return out
