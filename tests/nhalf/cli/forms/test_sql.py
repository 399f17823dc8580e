"""`nhalf show --sql`: one question to any number of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.keys import VERSION
from nhalf.store.run import Run

Call = Callable[..., Any]


@pytest.fixture
def runs(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> list[Path]:
    """Two runs in ./runs."""
    made = []
    for seed, name in enumerate(("first", "second")):
        folder = tmp_path / "runs" / name
        Run.create(folder, {})
        frame = make_measurements(sizes=(0, 8, 64), launches=3, seed=seed).collect().drop("run")
        frame.write_parquet(
            folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        made.append(folder)
    return made


def test_all_runs_are_asked_where_none_is_named(call: Call, runs: list[Path]) -> None:
    ended = call(
        "show", "--sql", "select run, count(*) as n from points group by run order by run", "--json"
    )
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == {
        "schema": "sql/1",
        "columns": ["run", "n"],
        "rows": [["first", 3], ["second", 3]],
    }


def test_runs_can_be_named(call: Call, runs: list[Path]) -> None:
    ended = call("show", "--sql", "select distinct run from launches", runs[1], "--json")
    assert json.loads(ended.out)["rows"] == [["second"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        "with p as (select * from points) select count(*) from p",
        " (SELECT count(*) from points)",
        "/* how many? */ select count(*) from points",
        "show tables",
        "explain select * from points",
    ],
)
def test_whatever_only_reads_is_answered(call: Call, runs: list[Path], text: str) -> None:
    assert call("show", "--sql", text).code == 0


def test_people_see_a_table(call: Call, runs: list[Path]) -> None:
    text = "select bytes, 'a [/b] c' as \"[bold]\", null as none from points limit 2"
    ended = call("show", "--sql", text)
    assert (ended.code, ended.err) == (0, "")
    assert "a [/b] c" in ended.out
    assert "[bold]" in ended.out


def test_values_without_a_number_are_null(call: Call, runs: list[Path]) -> None:
    nothing = "(median_s - median_s)"
    text = f"select {nothing} / {nothing} as x, 1 / {nothing} as y from points limit 1"
    ended = call("show", "--sql", text, "--json")
    assert json.loads(ended.out)["rows"] == [[None, None]]


def test_a_folder_with_a_run_that_failed_is_asked_all_the_same(
    call: Call, runs: list[Path]
) -> None:
    Run.create(runs[0].parent / "failed", {})
    ended = call("show", "--sql", "select distinct run from points order by run", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["rows"] == [["first"], ["second"]]
    assert ended.err.startswith("nhalf: skipped: ")
    assert "runs/failed holds no finished point; go on with: nhalf run --resume" in ended.err
    assert ended.err.count("\n") == 1
    call("show", "--sql", "show tables", runs[0].parent / "failed").is_error(
        2, "holds no finished point"
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selec 1", "cannot be answered"),
        ("select nope from points", "nope"),
        (
            "select * from nope",
            "tables are points, launches, samples, ranks, extras, runs, environment",
        ),
        ("", "cannot be answered"),
        ("drop table points", "it is no SELECT, WITH, SHOW or EXPLAIN"),
        ("DELETE FROM points", "nothing in them can be changed"),
        ("create table t as select * from points", "it is no SELECT"),
        ("select 1; drop table points", "cannot be answered"),
    ],
)
def test_a_question_without_an_answer(call: Call, runs: list[Path], text: str, said: str) -> None:
    call("show", "--sql", text).is_error(2, said)


def test_nothing_to_ask(call: Call, tmp_path: Path) -> None:
    call("show", "--sql", "select 1").is_error(2, "no run to ask")
    call("show", "--sql", "select 1", "nowhere").is_error(2, "nowhere is not a run directory")
    call("show", "--sql").is_error(2, "QUERY")


def test_a_folder_of_runs_is_one_collection(call: Call, runs: list[Path]) -> None:
    text = "select run, host, started_s from runs order by run"
    ended = call("show", "--sql", text, runs[0].parent, "--json")
    assert [row[0] for row in json.loads(ended.out)["rows"]] == ["first", "second"]
    joined = "select runs.path from points join runs on points.run = runs.run where bytes = 8"
    rows = json.loads(call("show", "--sql", joined, runs[0].parent.parent, "--json").out)["rows"]
    assert sorted(row[0] for row in rows) == sorted(map(str, runs))


def test_all_tables_are_listed(call: Call, runs: list[Path]) -> None:
    rows = json.loads(call("show", "--sql", "show tables", "--json").out)["rows"]
    assert {"points", "launches", "samples", "runs", "environment"} <= {row[0] for row in rows}


def test_a_folder_without_runs_is_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    call("show", "--sql", "select 1", tmp_path / "empty").is_error(2, "holds no run")


def test_a_folder_in_place_of_a_query_is_named(call: Call, runs: list[Path]) -> None:
    words = (2, "is a folder, not a query", f"nhalf show --sql 'select * from points' {runs[0]}")
    call("show", "--sql", runs[0]).is_error(*words)
