"""Runs, and libraries of runs, by the words with which verbs name them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.cli.sides import facts_of, machine_and_library, names_run, run_and_library
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

LIBRARIES = ("mpich-5.0.2", "mpich-5.0.2-path", "openmpi-4.1.4", "openmpi-5.0.11")


@pytest.fixture
def run(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> str:
    """A run of several libraries, and of a transport without one."""
    folder = tmp_path / "run"
    Run.create(folder, {})
    frames = [
        make_measurements(libraries=LIBRARIES, sizes=(0, 8, 64, 1024), launches=2),
        make_measurements(libraries=("",), sizes=(0, 8), launches=2).with_columns(
            transport=pl.lit("shm")
        ),
    ]
    pl.concat(frames).collect().drop("run").write_parquet(
        folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
    )
    return str(folder)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("openmpi-5.0.11", "openmpi-5.0.11"),
        ("openmpi-5", "openmpi-5.0.11"),
        ("openmpi", "openmpi-5.0.11"),
        ("openmpi-4", "openmpi-4.1.4"),
        ("mpich", "mpich-5.0.2"),
        ("mpich-5.0.2-path", "mpich-5.0.2-path"),
        ("shm", "shm"),
    ],
)
def test_a_library_has_its_full_name_however_it_is_named(run: str, short: str, full: str) -> None:
    assert run_and_library(f"{run}:{short}")[1] == full
    assert run_and_library(run, short)[1] == full
    assert machine_and_library(f"{run}:{short}")[1] == full
    assert names_run(f"{run}:{short}")


def test_without_a_library_all_are_meant(run: str) -> None:
    assert run_and_library(run)[1] == ""
    assert set(facts_of([run]).summary["mpi"]) == {*LIBRARIES, ""}
    assert set(facts_of([f"{run}:openmpi"]).summary["mpi"]) == {"openmpi-5.0.11"}


def test_what_is_no_library_of_the_run_is_named_with_it(run: str) -> None:
    with pytest.raises(InputError, match="unknown library 'intel' of run; known are mpich-5"):
        run_and_library(f"{run}:intel")
    with pytest.raises(InputError, match="given twice"):
        run_and_library(f"{run}:mpich", "openmpi")
    for text in (f"{run}-2", f"{run}-2:mpich", "sp2-mpl", "sp2-mpl:MPL", ":"):
        assert not names_run(text)
