"""The functions of `import nhalf`: arguments of every kind, and what each returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nhalf
from nhalf.base.errors import InputError, MissingError
from nhalf.decide.ledger.lines import MODEL, LedgerCell, Predicted, Scored, append_lines
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

WRONG: tuple[Any, ...] = (3, None, b"runs", [3], Path("/nowhere/at-all"), 3.5, object(), {}, [None])
OPTIONS = (
    *("ranks", "bytes", "sizes", "mpi", "transport", "algorithm", "placement", "axis"),
    *("launches", "budget", "precision", "seed", "timeout", "study", "model", "setting"),
)


def _run_with(word: str, value: Any) -> Any:
    """Measure with one option, where it is not about libraries without one of them."""
    transport = {} if word in {"mpi", "setting"} else {"transport": "model"}
    return nhalf.run(out="{out}", **{**transport, word: value})


ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "open": nhalf.open,
    "open, second": lambda value: nhalf.open("{a}", value),
    "figures": nhalf.figures,
    "history": nhalf.history,
    "history, pattern": lambda value: nhalf.history("{folder}", pattern=value),
    "history, mpi": lambda value: nhalf.history("{folder}", mpi=value),
    "history, bytes": lambda value: nhalf.history("{folder}", bytes=value),
    "compare": lambda value: nhalf.compare(value, value),
    "compare, b": lambda value: nhalf.compare("{a}", value),
    "compare, mpi": lambda value: nhalf.compare("{a}", "{b}", mpi=value),
    "compare, tolerance": lambda value: nhalf.compare("{a}", "{b}", tolerance=value),
    "machine": nhalf.machine,
    "predict": lambda value: nhalf.predict(value, "sp2-mpl"),
    "predict, machine": lambda value: nhalf.predict("bcast", value),
    "predict, ranks": lambda value: nhalf.predict("bcast", "sp2-mpl", ranks=value),
    "predict, bytes": lambda value: nhalf.predict("bcast", "sp2-mpl", bytes=value),
    "predict, sizes": lambda value: nhalf.predict("bcast", "sp2-mpl", sizes=value),
    "predict, mpi": lambda value: nhalf.predict("bcast", "sp2-mpl", mpi=value),
    "ledger": lambda value: nhalf.ledger(value, file="{ledger}"),
    "ledger, file": lambda value: nhalf.ledger("{a}", file=value),
    "run": lambda value: nhalf.run([value], out="{out}"),
    **{f"run, {word}": partial(_run_with, word) for word in OPTIONS},
    "run, out": lambda value: nhalf.run(transport="no such", out=value),
}
MEANT = {
    # These are sizes, ranks, launches, a seed, seconds, a share, and a file that may be made.
    ("ledger, file", 4),
    *(("history, bytes", place) for place in (0, 3)),
    *((f"predict, {word}", place) for word in ("ranks", "bytes", "sizes") for place in (0, 3)),
    *((f"run, {word}", place) for word in ("ranks", "bytes", "sizes") for place in (0, 3)),
    *((f"run, {word}", 0) for word in ("launches", "seed")),
    *((f"run, {word}", place) for word in ("budget", "timeout") for place in (0, 3)),
    *(("run, precision", place) for place in (0, 5)),
    *(("compare, tolerance", place) for place in (0, 5)),
}


@pytest.fixture(scope="module")
def places(
    tmp_path_factory: pytest.TempPathFactory, make_measurements: Callable[..., pl.LazyFrame]
) -> dict[str, str]:
    """Two runs, the second slower, their folder, and a ledger with a prediction of the first."""
    folder = tmp_path_factory.mktemp("interface")
    for number, name in enumerate(("a", "b")):
        run = Run.create(folder / "runs" / name, {"environment": {"host": "n1"}})
        frame = make_measurements(
            libraries=("mpich-5.0.2", "openmpi-5.0.11"),
            sizes=(0, 8, 64),
            slower={"mpich-5.0.2": 1 + number / 2},
            launches=4,
            samples=3,
            seed=number,
        )
        frame.collect().drop("run").write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
    began = datetime(2026, 1, 1, tzinfo=UTC)
    cell = LedgerCell(machine="n1", pattern="pingpong", ranks=2, size_bytes=8)
    append_lines(
        folder / "ledger.jsonl",
        [
            Predicted(at=began, kind=MODEL, cell=cell, value=1e-6),
            Scored(
                predicted_at=began, measured_at=began, run="r", kind=MODEL, cell=cell,
                measured_ratio=1.25,
            ),
        ],
    )  # fmt: skip
    return {
        "folder": str(folder / "runs"),
        "a": str(folder / "runs/a"),
        "b": str(folder / "runs/b"),
        "ledger": str(folder / "ledger.jsonl"),
        "out": str(folder / "out"),
    }


@pytest.fixture
def named(places: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill in the places of the runs in calls of the functions."""

    def filled(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*values: Any, **words: Any) -> Any:
            def fill(value: Any) -> Any:
                return value.format(**places) if isinstance(value, str) else value

            return function(*map(fill, values), **{word: fill(words[word]) for word in words})

        return called

    for name in set(nhalf.__all__) - {"__version__"}:
        monkeypatch.setattr(nhalf, name, filled(getattr(nhalf, name)))


def test_every_function_is_tried_with_values_of_wrong_kinds() -> None:
    functions = set(nhalf.__all__) - {"__version__"}
    assert {name.partition(",")[0] for name in ARGUMENTS} == functions
    assert all(inspect.getdoc(getattr(nhalf, name)) for name in functions)


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_a_value_of_a_wrong_kind_is_an_error_that_says_what_to_write(name: str) -> None:
    for place, value in enumerate(WRONG):
        if (name, place) in MEANT:
            continue
        with pytest.raises(InputError) as raised:
            ARGUMENTS[name](value)
        assert raised.value.remedy, (name, value)
        assert len(str(raised.value)) < 400


@pytest.mark.usefixtures("named")
class TestAnswers:
    def test_a_slower_run(self) -> None:
        compared = nhalf.compare("{a}", "{b}", mpi="mpich", tolerance=0.1)
        (curve,) = compared.curves
        assert (compared.verdict, curve.mpi_b, compared.threshold) == ("slower", "mpich-5.0.2", 1.1)
        assert nhalf.compare("{a}:mpich", "{b}", tolerance="10%") == compared
        assert nhalf.compare("{b}", mpi="openmpi,mpich").verdict == "slower"

    def test_one_library_of_a_run(self) -> None:
        assert set(nhalf.open("{a}:mpich").summary["mpi"]) == {"mpich-5.0.2"}
        with pytest.raises(InputError, match="unknown library 'mpihc' of a; did you mean mpich"):
            nhalf.open("{a}:mpihc")

    def test_a_size_of_zero_is_a_size(self) -> None:
        rows = nhalf.predict("bcast", "sp2-mpl", bytes=0).as_json()["rows"]
        assert {row["bytes"] for row in rows} == {0}

    def test_the_ledger_has_a_row_for_each_kind(self, places: dict[str, str]) -> None:
        (row,) = nhalf.ledger("{folder}", file="{ledger}").kinds
        assert (row.kind, row.predictions, row.matched) == ("model", 1, 1)
        assert row.bias_ratio == pytest.approx(1.25)
        assert str(nhalf.ledger(file=Path(places["ledger"])).path) == places["ledger"]
        with pytest.raises(MissingError, match="holds no prediction; record some"):
            nhalf.ledger(file="{folder}/none.jsonl")
