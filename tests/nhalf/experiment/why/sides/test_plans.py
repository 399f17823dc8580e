"""Which library of a run is launched again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.experiment.why.sides.plans import run_side
from nhalf.store.run import Run
from tests.nhalf.experiment.why.sides.runs import measured


def test_of_two_libraries_one_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = measured(tmp_path / "run", "L=5e-6")
    assert run_side(run, "").library == ""
    two = pl.LazyFrame({"mpi": ["openmpi-5.0.11", "mpich-5.0.2", "mpich-5.0.2"]})
    monkeypatch.setattr(Run, "measurements", lambda self: two)
    said = r"run has 2 libraries; name one: .*/run:mpich-5\.0\.2 or .*/run:openmpi-5\.0\.11"
    with pytest.raises(InputError, match=said):
        run_side(run, "")
