"""`nhalf history`: nights of runs, a library that is replaced, and what is said of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nhalf
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

Call = Callable[..., Any]
DAY_S = 86400.0
NIGHTS = 8
SLOWER_FROM = 5


@pytest.fixture(scope="module")
def nights(
    tmp_path_factory: pytest.TempPathFactory, make_measurements: Callable[..., pl.LazyFrame]
) -> Path:
    """Runs of eight nights; from the sixth on mpich is another version, and a quarter slower."""
    folder = tmp_path_factory.mktemp("nights")
    for night in range(NIGHTS):
        late = night >= SLOWER_FROM
        library = "mpich-5.0.2" if late else "mpich-5.0.1"
        environment = {
            "host": "n1",
            "system": "Linux 6.8",
            "governor": "powersave" if late else "performance",
            "variables": {"SLURM_JOB_ID": str(1000 + night)},
        }
        run = Run.create(
            folder / "runs" / f"night{night}",
            {"environment": environment, "titles": {library: f"MPICH {library[-5:]}"}},
        )
        frame = make_measurements(
            libraries=(library, "openmpi-5.0.11"),
            sizes=(0, 8, 64, 512, 4096, 2**20 + night),
            slower={library: 1.25 if late else 1.0},
            launches=3,
            samples=3,
            launch_noise=0.005,
            seed=night,
        ).with_columns(started_s=pl.col("started_s") + night * DAY_S)
        frame.collect().drop("run").write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
    return folder


def asked(call: Call, *words: Any) -> dict[str, Any]:
    ended = call("history", *words, "--json")
    found: dict[str, Any] = json.loads(ended.out)
    last = [curve["changes"][-1]["verdict"] for curve in found["curves"] if curve["changes"]]
    assert (ended.code, ended.err) == (int("slower" in last), "")
    return found


def test_the_night_of_a_change_its_size_and_what_changed_with_it(call: Call, nights: Path) -> None:
    found = asked(call, nights)
    assert [run["run"] for run in found["runs"]] == [f"night{k}" for k in range(NIGHTS)]
    curves = {curve["mpi"]: curve for curve in found["curves"]}
    assert sorted(curves) == ["mpich", "openmpi"]
    (change,) = curves["mpich"]["changes"]
    assert (change["before"], change["at"]) == ("night4", "night5")
    assert (change["at_first"], change["at_last"]) == ("night5", "night5")
    assert change["started_s"] == pytest.approx(1.7e9 + SLOWER_FROM * DAY_S, abs=60)
    assert change["ci"][0] < 1.25 < change["ci"][1]
    assert change["environment"] == [
        {"name": "library", "before": "mpich-5.0.1 (MPICH 5.0.1)",
         "after": "mpich-5.0.2 (MPICH 5.0.2)"},
        {"name": "governor", "before": "performance", "after": "powersave"},
    ]  # fmt: skip
    assert (change["verdict"], change["reason"], change["remedy"]) == ("slower", "", "")
    assert curves["openmpi"]["changes"] == []
    assert curves["mpich"]["bytes"] == [0, 8, 64, 512, 4096]
    for level in curves["openmpi"]["levels"]:
        assert level["ci"][0] <= level["ratio"] <= level["ci"][1]


def test_runs_may_be_named_in_any_order_and_twice(call: Call, nights: Path) -> None:
    runs = sorted((nights / "runs").iterdir(), reverse=True)
    assert asked(call, *runs, runs[0]) == asked(call, nights)


def test_people_see_curves_changes_and_on_request_every_run(call: Call, nights: Path) -> None:
    ended = call("history", nights, "--points", COLUMNS="200")
    assert (ended.code, ended.err) == (1, "")
    for words in ("pingpong, mpich", "night5", "governor: performance → powersave"):
        assert words in ended.out
    first = ended.out.splitlines()[0]
    assert re.search(r"runs, .*; half of the curves are known to ±\d.* in their last run$", first)
    assert "Olshen" not in ended.out
    assert "Olshen" in call("history", "--help").out
    assert ended.out.count("openmpi-5.0.11") == NIGHTS


def test_one_size_has_times(call: Call, nights: Path) -> None:
    (curve,) = asked(call, nights, "--mpi", "mpich", "--bytes", "8")["curves"]
    assert curve["levels"][0]["time_s"] == pytest.approx(1e-6, rel=0.05)
    assert curve["levels"][-1]["time_s"] == pytest.approx(1.25e-6, rel=0.05)


def test_without_names_the_runs_here_are_taken(call: Call, nights: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to(nights / "runs")
    assert len(asked(call)["runs"]) == NIGHTS


def test_a_night_that_failed_does_not_hide_the_others(
    call: Call, nights: Path, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    for night in nights.glob("runs/*"):
        (tmp_path / "runs" / night.name).mkdir()
        for file in night.iterdir():
            (tmp_path / "runs" / night.name / file.name).symlink_to(file)
    Run.create(tmp_path / "runs/failed", {})
    ended = call("history", "runs", "--json")
    assert len(json.loads(ended.out)["runs"]) == NIGHTS
    assert ended.err.count("\n") == 1
    assert "skipped: " in ended.err
    with pytest.warns(UserWarning, match="runs/failed holds no finished point"):
        assert len(nhalf.history(tmp_path / "runs").started_s) == NIGHTS
    narrowed = nhalf.history(nights / "runs", mpi="mpich", bytes=8)
    assert [curve.levels.sizes for curve in narrowed.curves] == [(8,)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sample_s", [-1e-6, float("nan"), float("inf")])
def test_a_night_with_an_impossible_time_is_named_and_left_out(
    sample_s: float, call: Call, nights: Path, tmp_path: Path
) -> None:
    shutil.copytree(nights / "runs", tmp_path / "runs")
    path = tmp_path / "runs/night2/measurements.parquet"
    frame = pl.read_parquet(path)
    first = pl.int_range(pl.len()) == 0
    samples = pl.when(first).then(pl.lit([sample_s, 1e-6])).otherwise("samples_s")
    frame.with_columns(samples_s=samples).write_parquet(
        path, metadata={"nhalf.schema": str(VERSION)}
    )
    ended = call("history", tmp_path / "runs", "--json")
    assert ended.code == 1, "slower, as before"
    runs = [run["run"] for run in json.loads(ended.out)["runs"]]
    assert runs == [f"night{night}" for night in range(NIGHTS) if night != 2]
    assert "launch 0 of run 'night2' has a sample that is negative or not finite" in ended.err
    assert ended.err.count("\n") == 1
    with pytest.warns(UserWarning, match="night2"):
        assert len(nhalf.history(tmp_path / "runs").started_s) == NIGHTS - 1
    alone = call("history", path.parent, tmp_path / "runs/night3")
    assert alone.code == 2, "named alone it has to be readable"


def test_the_page_has_the_change_and_every_value(call: Call, nights: Path, tmp_path: Path) -> None:
    found = asked(call, nights, "--report", tmp_path / "history.html")
    text = Path(found["report"]).read_text()
    assert "Changed with it: library: mpich-5.0.1" in text
    assert "Performance over time" in text
    assert text.count("night7") >= 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{nights}/runs/night0"], "two runs at least"),
        (["{nights}", "--pattern", "pingpang"], "did you mean pingpong"),
        (["{nights}", "--mpi", "mpihc"], "did you mean mpich"),
        (["{nights}", "--bytes", "3"], "no run measured these sizes"),
        (["nowhere"], "nowhere is not a run directory"),
        ([], "runs"),
    ],
)
def test_wrong_usage_is_one_line(call: Call, nights: Path, words: list[str], said: str) -> None:
    call("history", *(word.format(nights=nights) for word in words)).is_error(2, said)
