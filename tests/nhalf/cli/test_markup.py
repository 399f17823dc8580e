"""Names of others are printed as they are, whatever rich would make of their brackets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from nhalf.machines import catalogue
from nhalf.machines.machine_file import write
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.why import show_differences
from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.nhalf.cli.in_process import call_here

NAMES = ("[bold]x[bold]", "[/]", "[red]", "[/bold]")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_runs_libraries_patterns_and_machines_are_printed_as_they_are(
    name: str, tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    folder = name.replace("/", "")
    for number, run_name in enumerate((folder, f"{folder}2", f"{folder}3")):
        run = Run.create(tmp_path / run_name, {"environment": {}, "plan": {}, "titles": {}})
        asked = {"libraries": [name], "patterns": [name], "sizes": (0, 8, 1024)}
        frame = make_measurements(samples=3, seed=number, **asked)
        frame = frame.with_columns(started_s=pl.col("started_s") + 86400.0 * number)
        file = run.path / "measurements.parquet"
        metadata = {"nhalf.schema": str(VERSION)}
        frame.collect().drop("run").write_parquet(file, metadata=metadata)
    runs = (folder, f"{folder}2", f"{folder}3")
    for words in (
        ("show", folder),
        ("compare", *runs[:2]),
        ("compare", *runs),
        ("history", *runs, "--points"),
        ("check", runs[1], "--against", folder, "--points"),
        ("fit", folder),
    ):
        ended = call_here(*words, folder=tmp_path)
        assert ended.code in (0, 1), ended.err
        assert "Traceback" not in ended.err
        assert name in ended.out, words


@pytest.mark.parametrize("name", NAMES)
def test_names_in_machine_files_are_printed_as_they_are(name: str, tmp_path: Path) -> None:
    import msgspec

    machine = catalogue.machine("sp2-mpl")
    renamed = msgspec.structs.replace(machine, name=name, title=name, year=0)
    write(renamed, tmp_path / "mine.toml")
    for words in (("machines", "list"), ("machines", "show", "mine.toml")):
        ended = call_here(*words, folder=tmp_path)
        assert (ended.code, ended.err) == (0, "")
        assert name in ended.out, words
    assert "Traceback" not in call_here("mpi", "install", name, folder=tmp_path).err


@pytest.mark.parametrize("name", NAMES)
def test_values_of_variables_are_printed_as_they_are(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    switch = SimpleNamespace(name=name, a=name, b="[green]")
    ways: Any = SimpleNamespace(switches=[switch], not_tried=[switch])
    show_differences(stdout_console(), ways)
    out = capsys.readouterr().out
    assert out.count(name) == 4
    assert out.count("[green]") == 2
