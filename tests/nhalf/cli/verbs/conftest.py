# SPDX-License-Identifier: Apache-2.0
"""Runs without noise, and files of what is expected of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.run import Run
from nhalf.store.schema import VERSION

Make = Callable[..., pl.LazyFrame]
Keep = Callable[..., str]
SIZES = [0, 8, 1024, 65536]


@pytest.fixture
def keep(tmp_path: Path, make_measurements: Make) -> Keep:
    """Makes a run directory of measurements without noise."""

    def make(name: str, **asked: Any) -> str:
        folder = tmp_path / name
        Run.create(folder, {"environment": {"host": "n1"}, "plan": {}, "titles": {}})
        given = {"sizes": SIZES, "noise": 0.0, "launch_noise": 0.0, **asked}
        frame = make_measurements(**given).collect().drop("run")
        metadata = {"nhalf.schema": str(VERSION)}
        frame.write_parquet(folder / "measurements.parquet", metadata=metadata)
        return str(folder)

    return make


@pytest.fixture
def promise(tmp_path: Path) -> Callable[[str], str]:
    def make(text: str) -> str:
        path = tmp_path / "promise.toml"
        path.write_text(text)
        return str(path)

    return make
