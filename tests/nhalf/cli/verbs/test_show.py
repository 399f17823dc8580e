"""`nhalf show`: the numbers of a run, whatever state it is in, and of ten million samples."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run

Call = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> Path:
    """Two libraries and two patterns; names that look like markup."""
    titles = {"a": "Library [bold]A[/x]", "b": "Library B"}
    Run.create(tmp_path / "r", {"titles": titles})
    frame = make_measurements(
        libraries=("a", "b"), patterns=("pingpong", "stream"), sizes=(0, 8, 4096), launches=3
    ).collect()
    write(frame, tmp_path / "r")
    return tmp_path / "r"


def write(frame: pl.DataFrame, folder: Path) -> None:
    frame.drop("run").write_parquet(
        folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
    )


def test_people_see_a_table_per_curve(call: Call, run: Path) -> None:
    ended = call("show", run)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("pingpong  2 ranks") == 2
    assert "Library [bold]A[/x]" in ended.out
    assert ended.out.count("4 KiB") == 4
    assert "95 % interval" in ended.out


def test_json_is_what_run_prints(call: Call, run: Path) -> None:
    answer = json.loads(call("show", run, "--json").out)
    assert answer["run"] == str(run)
    assert len(answer["points"]) == 12
    point = answer["points"][0]
    assert {"median_s", "ci_low_s", "ci_high_s", "launches", "samples", "advice"} <= set(point)
    assert point["ci_low_s"] <= point["median_s"] <= point["ci_high_s"]


def test_patterns_and_libraries_can_be_chosen(call: Call, run: Path) -> None:
    answer = json.loads(call("show", run, "stream", "--mpi", "b", "--json").out)
    assert {(p["pattern"], p["mpi"]) for p in answer["points"]} == {("stream", "b")}
    call("show", run, "steam").is_error(2, "unknown pattern 'steam'", "did you mean stream")
    call("show", run, "--mpi", "c").is_error(2, "unknown library 'c'")


def test_an_interval_without_meaning_is_not_spelled_out(
    call: Call, tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    Run.create(tmp_path / "wild", {})
    frame = make_measurements(sizes=(8,), launches=2, launch_noise=3.0).collect()
    write(frame, tmp_path / "wild")
    assert "unknown" in call("show", tmp_path / "wild").out


def damage_nothing(run: Path) -> None:
    pass


def other_version(run: Path) -> None:
    parquet = run / "measurements.parquet"
    pl.read_parquet(parquet).write_parquet(parquet, metadata={"nhalf.schema": "7"})


def negative(run: Path) -> None:
    write(
        pl.read_parquet(run / "measurements.parquet").with_columns(
            run=pl.lit("r"), samples_s=pl.lit([-1.0])
        ),
        run,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda run: (run / "measurements.parquet").unlink(), "no finished point"),
        (lambda run: (run / "measurements.parquet").write_bytes(b"PAR1"), "is damaged"),
        (lambda run: (run / "run.json").unlink(), "not a run directory"),
        (lambda run: (run / "run.json").write_bytes(b"{"), "is damaged"),
        (lambda run: (run / "run.json").write_bytes(b'{"schema":9}'), "version 9"),
        (other_version, "version 7"),
        (negative, "negative or not finite"),
    ],
)
def test_what_cannot_be_shown_is_one_clear_line(
    call: Call, run: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(run)
    call("show", run).is_error(2, said)


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b'{"event":"point","by'])
def test_a_journal_without_points_is_one_clear_line(call: Call, run: Path, content: bytes) -> None:
    (run / "measurements.parquet").unlink()
    (run / "journal.jsonl").write_bytes(content)
    call("show", run).is_error(2, "holds no finished point", "--resume")
    assert (run / "journal.jsonl").read_bytes() == content


@pytest.mark.parametrize("path", ["none", "/dev/null", "."])
def test_what_is_no_run_is_one_clear_line(call: Call, path: str) -> None:
    call("show", path).is_error(2, "is not a run directory")


POINTS, LAUNCHES, SAMPLES = 2000, 25, 200
MEMORY_BYTES_MAX = 10**9


@pytest.fixture(scope="module")
def ten_million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of ten million samples, finished."""
    folder = tmp_path_factory.mktemp("large") / "run"
    run = Run.create(folder, {})
    random = np.random.default_rng(1)
    rows = POINTS * LAUNCHES
    size = np.repeat(np.arange(POINTS), LAUNCHES)
    noise = np.exp(random.normal(0, 0.02, (rows, SAMPLES)))
    times = (1e-6 + size / 5e9)[:, None] * noise
    constant = {
        "transport": "mpi", "mpi": "mpich", "pattern": "pingpong", "algorithm": "native",
        "ranks": 2, "placement": "cores", "axes": "", "position": 0, "started_s": 1.7e9,
        "batch": 10, "messages_per_round": 2, "stop": "samples", "verified": True, "run": "run",
    }  # fmt: skip
    samples = pl.Series("samples_s", times, dtype=pl.Array(pl.Float64, SAMPLES))
    frame = pl.DataFrame(
        {"bytes": size, "bytes_per_time": size, "launch": np.tile(np.arange(LAUNCHES), POINTS)}
    ).with_columns(
        samples.arr.to_list(),
        *(pl.lit(value).alias(name) for name, value in constant.items()),
        *(pl.lit([], MEASUREMENT_COLUMNS[n]).alias(n) for n in ("advice", "rank_s", "values")),
    )
    write(frame.select(pl.col(n).cast(kind) for n, kind in MEASUREMENT_COLUMNS.items()), folder)
    return run.path


def memory_of(*words: str | Path) -> tuple[int, str]:
    """The most memory that a call takes, bytes, and what it says."""
    text = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "nhalf", *sys.argv[1:]], stdout=subprocess.PIPE)
assert done.returncode == 0
print(done.stdout.decode())
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, _, peak = done.stdout.strip().rpartition("\n")
    return int(peak) * 1024, said


@pytest.mark.full
@pytest.mark.slow
def test_ten_million_samples_fit_into_memory(ten_million: Path) -> None:
    peak_bytes, said = memory_of("show", ten_million, "--json")
    points = json.loads(said)["points"]
    assert sum(p["samples"] for p in points) == 10**7
    assert peak_bytes < MEMORY_BYTES_MAX


@pytest.mark.full
@pytest.mark.slow
def test_ten_million_samples_that_are_only_in_the_journal_do_too(
    ten_million: Path, tmp_path: Path
) -> None:
    run = Run.create(tmp_path / "run", {})
    with (run.path / "journal.jsonl").open("wb") as journal:
        for part in pl.read_parquet(ten_million / "measurements.parquet").iter_slices(1000):
            part.with_columns(event=pl.lit("point")).write_ndjson(journal)
    peak_bytes, said = memory_of("show", run.path, "--json")
    assert len(json.loads(said)["points"]) == POINTS
    assert peak_bytes < MEMORY_BYTES_MAX


def test_memory_is_what_is_measured(run: Path) -> None:
    peak_bytes, _ = memory_of("show", run)
    assert 10**7 < peak_bytes < resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 10**9


def test_the_newest_run_is_shown_if_none_is_named(
    call: Call, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    call("show").is_error(2, "no run is named, and runs/ holds none")
    for name in ("older", "newer"):
        shutil.copytree(run, run.parent / "runs" / name)
    os.utime(run.parent / "runs" / "older" / "run.json", (1, 1))
    ended = call("show")
    assert "the newest run: runs/newer" in ended.err
    assert ended.out == call("show", "runs/newer").out


def test_a_pattern_may_be_an_option(call: Call, run: Path) -> None:
    assert call("show", run, "--pattern", "stream").out == call("show", run, "stream").out
    call("show", run, "stream", "--pattern", "pingpong").is_error(2, "two patterns are given")


def test_quantiles_of_samples_are_shown(
    call: Call, tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    Run.create(tmp_path / "r", {})
    frame = make_measurements(sizes=(0, 8), launches=3, samples=100, noise=0.05).collect()
    write(frame, tmp_path / "r")
    told = call("show", tmp_path / "r", "--quantiles", "50, 95 %,99").out
    assert told.count("95 %") >= 3
    assert "99 %: not known at 2 sizes, needs 500 samples each" in told
    assert "A sample is the mean of up to 100 rounds" in told
    rows = call("show", tmp_path / "r", "--quantiles", "95", "--format", "csv").out.splitlines()
    assert rows[0].endswith("q,time_s,low_s,high_s,samples")
    assert len(rows) == 3
    (first, _) = json.loads(call("show", tmp_path / "r", "--quantiles", "90", "--json").out)[
        "points"
    ]
    assert [row["q"] for row in first["quantiles"]] == [0.9]
    table = call("show", tmp_path / "r", "--style", "osu", "--quantiles", "90").out
    assert "P90 Tail Lat(us)" in table


@pytest.mark.parametrize("text", ["0", "100", "-1", "nan", "50,", "x", "1e1", "99.99999999"])
def test_what_is_no_quantile_is_one_clear_line(call: Call, run: Path, text: str) -> None:
    call("show", run, f"--quantiles={text}").is_error(2, "no quantiles", "--quantiles 50,95,99")
