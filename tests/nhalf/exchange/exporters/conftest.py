# SPDX-License-Identifier: Apache-2.0
"""Runs on the disk, for exporters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.store.run import Run
from nhalf.store.schema import VERSION


@pytest.fixture
def keep_run(tmp_path: Path) -> Callable[[pl.LazyFrame], Run]:
    """Writes measurements into a run directory and opens it."""

    def write(measurements: pl.LazyFrame) -> Run:
        run = Run.create(tmp_path / "run", {"environment": {}, "plan": {}, "titles": {}})
        metadata = {"nhalf.schema": str(VERSION)}
        frame = measurements.collect().drop("run")
        frame.write_parquet(run.path / "measurements.parquet", metadata=metadata)
        return run

    return write
