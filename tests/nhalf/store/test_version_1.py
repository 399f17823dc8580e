"""A run that was written before points had further axes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.keys import MEASUREMENT_COLUMNS
from nhalf.store.run import Run


@pytest.fixture
def old(tmp_path: Path) -> Run:
    shutil.copytree(Path(__file__).parent / "version-1", tmp_path / "old")
    return Run.open(tmp_path / "old")


def test_what_it_lacks_is_empty(old: Run) -> None:
    frame = old.measurements().collect()
    assert frame.schema == pl.Schema(MEASUREMENT_COLUMNS)
    assert frame["axes"].unique().to_list() == [""]
    assert frame["rank_s"].list.len().sum() == frame["values"].list.len().sum() == 0
    assert frame["rank_s"].null_count() == frame["values"].null_count() == 0


def test_its_journal_says_the_same(old: Run) -> None:
    from_parquet = old.measurements().collect()
    (old.path / "measurements.parquet").unlink()
    assert old.measurements().collect().equals(from_parquet)
    old.finish()
    assert old.measurements().collect().equals(from_parquet)


def test_it_stands_beside_a_run_of_today(
    old: Run, tmp_path: Path, point_event: Callable[..., dict[str, Any]]
) -> None:
    values = [{"name": "overlap", "value": 0.5}]
    run = Run.create(tmp_path / "run", {})
    with run.journal() as journal:
        journal.append(point_event(axes="work=1", rank_s=[1e-6, 2e-6], values=values))
    both = pl.concat([old.measurements(), run.measurements()]).collect()
    assert both.height == 9
    assert both.row(-1, named=True)["values"] == values
    assert both.row(-1, named=True)["rank_s"] == [1e-6, 2e-6]
