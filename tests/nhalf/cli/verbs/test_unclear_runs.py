"""Runs that stay unclear are counted by check and history, and too many of them are an alarm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.decide.check.verdict import UNDECIDED
from nhalf.store.keys import VERSION

Keep = Callable[..., str]
Promise = Callable[[str], str]
Call = Callable[..., Any]
OPEN = '[[expect]]\nmetric="time"\nmpi="once"\nat_most="1 s"\n'


@pytest.fixture
def nights(keep: Keep, tmp_path: Path) -> Callable[..., list[str]]:
    """Keeps a run for each night, in order: one launch is unclear, five decide."""

    def make(*launches: int, **asked: Any) -> list[str]:
        paths = []
        for number, count in enumerate(launches):
            library = "mpich-5.0.1" if number < 2 else "mpich-5.0.2"
            night = {"libraries": [library], "launches": count, **asked}
            paths.append(keep(f"night{number}", **night))
            file = Path(paths[-1]) / "measurements.parquet"
            later = pl.read_parquet(file).with_columns(pl.col("started_s") + 86400.0 * number)
            later.write_parquet(file, metadata={"nhalf.schema": str(VERSION)})
        return paths

    return make


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("launches", "limit", "runs", "expected"),
    [
        ([5, 1, 1], 3, 2, 0),
        ([5, 1, 1, 1], 3, 3, UNDECIDED),
        ([5, 1, 1, 1, 1], 3, 3, UNDECIDED),
        ([5, 1, 1, 5, 1], 3, 1, 0),
        ([5, 1, 1, 1, 5], 3, 0, 0),
        ([5, 1, 1, 1], 0, 0, 0),
        ([5, *[1] * 6], None, 6, 0),
        ([5, *[1] * 7], None, 7, UNDECIDED),
    ],
)
def test_too_many_unclear_runs_in_a_row_are_an_alarm(
    nights: Callable[..., list[str]],
    call: Call,
    launches: list[int],
    limit: int | None,
    runs: int,
    expected: int,
) -> None:
    paths = nights(*launches)
    options = [] if limit is None else ["--unclear-max", str(limit)]
    ended = call("check", paths[-1], "--against", paths[0], *options, "--json")
    assert ended.code == expected
    curve = json.loads(ended.out)["expectations"][-1 if runs == 0 else 0]
    assert curve["unclear_runs"] == runs
    alarm = f"nhalf: unclear for {runs} runs in a row: pingpong, mpich-5.0.2"
    assert (alarm in ended.err) == bool(expected)


def test_a_new_baseline_and_another_kind_of_run_begin_or_skip_the_count(
    nights: Callable[..., list[str]], keep: Keep, call: Call, tmp_path: Path
) -> None:
    paths = nights(5, 1, 1, 5, 1, 1)
    keep("other", patterns=["exchange"], started_s=1.7e9 + 4.5 * 86400)
    words = ("--unclear-max", "2", "--junit", tmp_path / "check.xml")
    assert call("check", paths[-1], "--against", paths[3], *words).code == UNDECIDED
    assert call("check", paths[-1], "--against", paths[3], *words, "--strict").code == 1
    assert '<failure message="unclear for 2 runs in a row' in (tmp_path / "check.xml").read_text()
    assert call("check", paths[4], "--against", paths[3], *words).code == 0
    assert "<skipped" in (tmp_path / "check.xml").read_text()


def test_unclear_promises_are_counted_as_well(
    nights: Callable[..., list[str]], promise: Promise, call: Call
) -> None:
    paths = nights(1, 1, 1, libraries=["once"])
    words = ("check", paths[-1], "--expect", promise(OPEN), "--unclear-max")
    ended = call(*words, "3")
    assert (ended.code, "nhalf: unclear for 3 runs in a row: " in ended.err) == (UNDECIDED, True)
    assert call(*words, "4").code == 0


def test_a_history_says_what_stays_unclear(nights: Callable[..., list[str]], call: Call) -> None:
    paths = nights(5, 5, 1, 1, 1)
    ended = call("history", *paths)
    assert "pingpong, mpich: unclear against night0 for the last 3 runs" in ended.out
    (curve,) = json.loads(call("history", *paths, "--json").out)["curves"]
    assert curve["unclear_runs"] == 3
    assert ended.code == 0
    assert call("history", *paths, "--unclear-max", "3").code == UNDECIDED
    assert call("history", *paths, "--unclear-max", "4").code == 0
    assert "unclear against" not in call("history", *paths[:3]).out
