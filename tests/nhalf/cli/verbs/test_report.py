from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.cli.verbs.report import Request, command
from nhalf.store.keys import VERSION
from nhalf.store.run import Run


@pytest.fixture
def run(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> Path:
    folder = tmp_path / "run"
    Run.create(folder, {"environment": {"host": "here"}, "plan": {}, "titles": {"a": "Library A"}})
    measured = make_measurements(libraries=("a", "b"), slower={"a": 2.0}, sizes=(0, 1, 1024, 4096))
    frame = measured.collect().drop("run")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return folder


def test_report_lies_in_the_run_and_its_place_is_printed(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(Request(runs=(run,)))
    command(Request(runs=(run,), out=run / "[bold]r.html"))
    assert (run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out.splitlines() == [
        f"report: {run / 'report.html'}",
        f"report: {run / '[bold]r.html'}",
    ]


def test_json_is_one_object_with_the_findings(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(Request(runs=(run,), out=tmp_path / "[bold]r.html", json=True))
    answer = json.loads(capsys.readouterr().out)
    assert answer["report"] == str(tmp_path / "[bold]r.html")
    smallest = next(f for f in answer["findings"] if f["kind"] == "smallest-message")
    assert smallest["low"] <= 2.0 <= smallest["high"]
    assert "Library A needs" in smallest["text"]


def test_a_run_that_cannot_be_read_is_skipped_among_several(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = Run.create(tmp_path / "failed", {}).path
    assert command(Request(runs=(failed, run), json=True)) == 2
    ended = capsys.readouterr()
    answer = json.loads(ended.out)
    assert answer["report"] == str(run / "report.html")
    assert [row["run"] for row in answer["skipped"]] == [str(failed)]
    assert ended.err.startswith("nhalf: skipped: ")
    for runs in ((failed,), (failed, failed)):
        with pytest.raises(InputError, match="holds no finished point"):
            command(Request(runs=runs))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_go_into_a_folder(
    run: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command(Request(runs=(run,), kind=kind))
    folder = run / f"report-{kind}"
    assert {path.suffix for path in folder.iterdir()} == {f".{kind}", ".csv"}
    assert str(folder) in capsys.readouterr().out


def test_unknown_format_is_answered_with_the_known_ones(run: Path) -> None:
    with pytest.raises(InputError, match="unknown format 'pgn'; did you mean png"):
        command(Request(runs=(run,), kind="pgn"))
    assert not (run / "report-pgn").exists()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run directory"):
        command(Request(runs=(tmp_path,)))
