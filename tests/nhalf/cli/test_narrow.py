"""Every verb that prints a table, on terminals as narrow as they get: no number is cut."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.nhalf.cli.in_process import call_here

WIDTHS = (40, 20)
VERBS = (
    "compare n/one n/two",
    "compare n/one n/two n/three",
    "history n --points",
    "check n/two --against n/one --points",
    "check n/two --expect sp2-mpl",
    "show n/one",
    "fit n/one",
    "show --sql 'select * from points' n",
    "predict bcast --machine sp2-mpl",
    "predict b_eff --machine sp2-mpl",
    "predict traffic --machine sp2-mpl",
    "machines list",
    "machines show sp2-mpl",
    "machines show altix-bx2",
    "mpi list",
    "study",
    "export --list",
    "app --list",
)
NUMBER = re.compile(r"(?<![\w.])[-+~]?\d[\d.,]*\w*")


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, make_measurements: Callable[..., pl.LazyFrame]
) -> Path:
    """A folder in which `n` holds three runs of a library, the second slower."""
    folder = tmp_path_factory.mktemp("narrow")
    for number, name in enumerate(("one", "two", "three")):
        run = Run.create(folder / "n" / name, {"environment": {}, "plan": {}, "titles": {}})
        slower = {"mpich-5.0.2": 1.5 if name == "two" else 1.0}
        asked = {"libraries": ["mpich-5.0.2"], "sizes": (0, 8, 1024), "slower": slower}
        frame = make_measurements(samples=3, seed=number, **asked)
        frame = frame.with_columns(started_s=pl.col("started_s") + 86400.0 * number)
        file = run.path / "measurements.parquet"
        metadata = {"nhalf.schema": str(VERSION)}
        frame.collect().drop("run").write_parquet(file, metadata=metadata)
    return folder


@pytest.mark.sampled(5)
@pytest.mark.parametrize("words", VERBS)
def test_no_number_is_cut(words: str, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = call_here(*shlex.split(words), folder=runs)
    assert whole.code in (0, 1), whole.err
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        narrow = call_here(*shlex.split(words), folder=runs)
        assert narrow.code == whole.code, narrow.err
        assert set(NUMBER.findall(narrow.out)) <= set(NUMBER.findall(whole.out)), width
        lines = narrow.out.splitlines()
        assert not [line for line in lines if "─" in line and len(line) > width], width
        assert not [line for line in lines if "…" in line and line.strip() not in whole.out]
