"""What a further launch takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.store.launch_interval import launch_interval_s
from nhalf.store.run import Run
from nhalf.store.schema import VERSION

Make = Callable[..., pl.LazyFrame]


@pytest.mark.parametrize(
    ("starts_s", "interval_s"),
    [
        ([0.0], math.nan),
        ([0.0, 5.0], 5.0),
        ([0.0, 4.0, 10.0, 15.0], 5.0),
        ([0.0, 5.0, 10.0, 90000.0, 90005.0], 5.0),
    ],
)
def test_it_is_the_median_time_between_launches(
    tmp_path: Path, make_measurements: Make, starts_s: list[float], interval_s: float
) -> None:
    run = Run.create(tmp_path / "r", {"environment": {}, "plan": {}, "titles": {}})
    frame = make_measurements(launches=len(starts_s)).collect().drop("run")
    began = pl.col("launch").replace_strict(dict(enumerate(starts_s)), return_dtype=pl.Float64)
    frame.with_columns(started_s=1.7e9 + began).write_parquet(
        run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
    )
    assert launch_interval_s(run) == pytest.approx(interval_s, nan_ok=True)
