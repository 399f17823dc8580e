"""A tail that grew while the median stayed, from a run to what every verb says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.store.keys import VERSION
from nhalf.store.run import Run

Call = Callable[..., Any]


@pytest.fixture
def runs(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> list[Path]:
    """A run, another one of the same machine, and one with twice the time in 1 % of its samples."""
    random = np.random.default_rng(1)
    paths = []
    for number, share in enumerate((0.0, 0.0, 0.01)):
        frame = make_measurements(
            sizes=(0,), samples=200, noise=0.05, launch_noise=0.005, seed=number
        ).collect()
        samples = [
            (np.array(row) * np.where(random.random(len(row)) < share, 2, 1)).tolist()
            for row in frame["samples_s"].to_list()
        ]
        path = tmp_path / f"r{number}"
        Run.create(path, {})
        frame.drop("run").with_columns(pl.Series("samples_s", samples)).write_parquet(
            path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        paths.append(path)
    return paths


def test_compare_tells_a_longer_tail(call: Call, runs: list[Path]) -> None:
    told = call("compare", runs[0], runs[2])
    assert told.code == 1
    assert "slowest 1 %" in told.out
    assert "longer tail" in told.out
    assert "in its slowest samples" in told.out
    assert "Of tails: from 25 % on, 1 %." in told.out
    answer = json.loads(call("compare", runs[0], runs[2], "--json").out)
    assert [curve["verdict"] for curve in answer["patterns"]] == ["equal"]
    (tail,) = answer["tails"]
    assert (tail["quantile"], tail["verdict"]) == (0.99, "slower")
    assert answer["verdict"] == "slower"


def test_compare_without_a_change_says_nothing_of_tails(call: Call, runs: list[Path]) -> None:
    told = call("compare", runs[0], runs[1])
    assert told.code == 0
    assert "tail" not in told.out
    several = call("compare", *runs)
    assert several.code == 1
    assert "in its slowest samples" in several.out


def test_check_fails_with_a_longer_tail(call: Call, runs: list[Path]) -> None:
    told = call("check", runs[2], "--against", runs[0])
    assert told.code == 1
    assert told.out.rstrip().endswith("regression")
    assert call("check", runs[1], "--against", runs[0]).code == 0
    answer = json.loads(call("check", runs[2], "--against", runs[0], "--json").out)
    findings = {effect["curve"]: effect["finding"] for effect in answer["effects"]}
    assert findings == {
        "pingpong, mpich, 2 ranks": "no regression",
        "pingpong, mpich, 2 ranks, slowest 1 %": "regression",
    }


def test_a_report_of_both_runs_names_the_tail(call: Call, runs: list[Path]) -> None:
    answer = json.loads(call("report", runs[0], runs[2], "--json").out)
    texts = [finding["text"] for finding in answer["findings"]]
    assert any("slower than r0 in its slowest samples" in text for text in texts)


def test_a_promise_of_a_quantile(call: Call, runs: list[Path], tmp_path: Path) -> None:
    promise = tmp_path / "promise.toml"
    promise.write_text(
        '[[expect]]\nmetric = "time"\nquantile = "99%"\nbytes = 0\nat_most = "1.5us"'
    )
    assert call("check", runs[0], "--expect", promise).code == 0
    told = call("check", runs[2], "--expect", promise)
    assert "99 % of the samples" in told.out
