"""Histories of many curves: few false alarms, what changed first, and what stays unclear."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.decide.history.around import Difference
from nhalf.decide.history.history import (
    CurveHistory,
    History,
    curve_error,
    curve_history,
    history,
)
from nhalf.decide.history.levels import Levels, all_medians, curve_levels
from nhalf.facts.facts import Facts
from nhalf.present.terminal.history import as_json
from nhalf.statistics.change_points import ERROR
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

CURVES = 20
RUNS = 12
NIGHTS = 100
NOISE = 0.03
POINT = {"pattern": "pingpong", "mpi": "mpich", "ranks": 2}


def levels(logs: Any, **columns: Any) -> Levels:
    """A curve with these logarithms of its levels, on a quiet machine of one state."""
    ratio = np.exp(np.asarray(logs, dtype=np.float64))
    count = len(ratio)
    runs = tuple(f"night{number:02}" for number in range(count))
    curve = Levels(
        POINT, (8,), runs, ("mpich-5.0.2",) * count, (5,) * count,
        ratio, ratio, ratio, 1e-6, np.full(count, 1e-7),
        np.full(count, np.nan), np.zeros(count),
    )  # fmt: skip
    return replace(curve, **columns)


def night(seed: int, slower: float = 1.0) -> list[Levels]:
    """The curves of a history without a change, but for the last, which has one in the middle."""
    logs = NOISE * np.random.default_rng(seed).standard_normal((CURVES, RUNS))
    logs[-1, RUNS // 2 :] += math.log(slower)
    return list(map(levels, logs))


def judged(curves: list[Levels]) -> History:
    """The history of curves in an environment that is not known."""
    error = curve_error(curves)
    started_s = {run: 1.7e9 + 86400 * day for day, run in enumerate(curves[0].runs)}
    histories = [
        curve_history(curve, [{}] * len(curve.runs), started_s, (error, error)) for curve in curves
    ]
    return History(started_s, tuple(histories), error, Path("runs/night11"))


def shifts(curve: Levels) -> CurveHistory:
    return judged([curve]).curves[0]


def test_without_a_change_a_night_of_many_curves_raises_no_alarm() -> None:
    alarms = [bool(judged(night(seed)).shifts) for seed in range(NIGHTS)]
    assert sum(alarms) <= 2


def test_one_curve_that_is_slower_is_found_and_comes_first() -> None:
    for seed in range(NIGHTS // 4):
        found = judged(night(seed, slower=1.25))
        curve, shift = found.shifts[0]
        assert curve is found.curves[-1].levels
        assert (shift.verdict, shift.at) == ("slower", "night06")
        assert 1 < shift.low < shift.ratio < shift.high
        assert found.regressed


def test_with_many_changes_each_is_found_more_easily() -> None:
    """The error is shared by the curves that changed, not by all that were measured."""
    step = 0.2 * (np.arange(RUNS) > 5)
    lively = [levels(step + curve_logs(seed)) for seed in range(CURVES)]
    assert curve_error(night(1)) == pytest.approx(ERROR / CURVES)
    assert curve_error(lively) == pytest.approx(ERROR)


def curve_logs(seed: int) -> Any:
    return NOISE * np.random.default_rng(seed).standard_normal(RUNS)


def test_the_surest_slow_down_goes_before_faster_and_unclear() -> None:
    step = np.arange(RUNS) >= RUNS // 2
    noise = curve_logs(3) / 10
    found = judged(
        [
            levels(noise - 0.3 * step),
            levels(noise + 0.2 * step),
            levels(noise + 0.9 * step, launches=(1,) * 2 + (0,) * (RUNS - 2)),
            levels(noise + 0.4 * step),
        ]
    )
    assert [shift.verdict for _, shift in found.shifts] == ["slower", "slower", "faster", "unclear"]
    assert [round(math.log(shift.ratio), 1) for _, shift in found.shifts] == [0.4, 0.2, -0.3, 0.9]


STEP = 0.3 * (np.arange(RUNS) >= RUNS // 2) + curve_logs(4) / 10


@pytest.mark.parametrize(
    ("columns", "reason", "remedy"),
    [
        ({"launches": (1, 1, *(0,) * 8, 1, 1)}, "launches: 2, at least 3", "add launches"),
        (
            {"unknown_share": np.linspace(0, 0.8, RUNS)},
            "unknown for 62 % of the measurements",
            "keep other processes off",
        ),
        (
            {"flag_s": np.where(np.arange(RUNS) >= 6, 3e-7, 1e-7)},
            "different states",
            "at another time",
        ),
        (
            {"gpu_clock_hz": np.where(np.arange(RUNS) >= 6, 1.59e9, 1.98e9)},
            "the GPU's clock went from 1980 to 1590 MHz",
            "--lock-gpu-clocks",
        ),
    ],
)
def test_what_cannot_be_decided_is_unclear_and_says_why(
    columns: dict[str, Any], reason: str, remedy: str
) -> None:
    assert shifts(levels(STEP)).is_slower
    curve = shifts(levels(STEP, **columns))
    (shift,) = curve.shifts
    assert shift.verdict == "unclear"
    assert reason in shift.doubt.reason
    assert remedy in shift.doubt.remedy
    assert not curve.is_slower


def test_a_change_of_the_clock_stands_with_what_else_changed() -> None:
    clocks_hz = np.where(np.arange(RUNS) >= 6, 1.59e9, 1.98e9)
    (shift,) = shifts(levels(STEP, gpu_clock_hz=clocks_hz)).shifts
    assert shift.differences == (Difference("clock of the GPU", "1980 MHz", "1590 MHz"),)
    for alike_hz in (np.full(RUNS, 1.98e9), clocks_hz * 0 + 1.9e9, np.full(RUNS, np.nan)):
        (shift,) = shifts(levels(STEP, gpu_clock_hz=alike_hz)).shifts
        assert (shift.verdict, shift.differences) == ("slower", ())


def test_a_curve_that_became_faster_again_is_no_regression() -> None:
    there_and_back = 0.3 * ((np.arange(16) >= 5) & (np.arange(16) < 10))
    curve = shifts(levels(there_and_back))
    assert [shift.verdict for shift in curve.shifts] == ["slower", "faster"]
    assert not curve.is_slower


def test_a_machine_without_noise_and_changes_within_the_tolerance() -> None:
    assert judged([levels(np.zeros(RUNS)), levels([0.0, 0.0])]).shifts == []
    assert shifts(levels(0.015 * (np.arange(RUNS) > 5))).shifts == ()
    (shift,) = shifts(levels(0.025 * (np.arange(RUNS) > 5))).shifts
    assert shift.verdict == "slower"


def test_unknown_states_of_runs_are_shares_of_their_times(
    tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    runs = {name: Run.create(tmp_path / name, {}) for name in ("r0", "r1")}
    for number, run in enumerate(runs.values()):
        frame = make_measurements(sizes=(0, 8), launches=4, samples=3, seed=number)
        frame.collect().drop("run").write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
    medians = all_medians({name: Facts.of([run]) for name, run in runs.items()})
    is_missed = (pl.col("run") == "r1") & (pl.col("launch") == 0)
    flag = pl.when(is_missed).then(None).otherwise(1e-7)
    clock = pl.when(pl.col("run") == "r1").then(1.59e9)
    medians = medians.with_columns(gpu_clock_hz=clock)
    (curve,) = curve_levels(medians.with_columns(flag_s=flag), list(runs))
    assert list(curve.unknown_share) == [0.0, 0.25]
    assert list(curve.gpu_clock_hz) == pytest.approx([math.nan, 1.59e9], nan_ok=True)
    (curve,) = curve_levels(medians.with_columns(flag_s=pl.lit(None, pl.Float64)), list(runs))
    assert list(curve.unknown_share) == [0.0, 0.0]


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_tail_that_grew_is_a_change(
    share: float, tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]
) -> None:
    """From the sixth of ten runs on, one sample in a hundred takes twice as long."""
    random = np.random.default_rng(3)
    runs = []
    for number in range(10):
        frame = make_measurements(sizes=(8,), samples=200, noise=0.05, seed=number).collect()
        slow = share if number >= 5 else 0.0
        samples = [
            (np.array(row) * np.where(random.random(len(row)) < slow, 2, 1)).tolist()
            for row in frame["samples_s"].to_list()
        ]
        run = Run.create(tmp_path / f"r{number}", {})
        columns = [pl.Series("samples_s", samples), started_s(number)]
        frame.drop("run").with_columns(columns).write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        runs.append(run)
    past = history(runs)
    tails = [curve for curve in past.curves if "quantile" in curve.levels.curve]
    assert past.regressed == bool(tails) == (share > 0)
    if tails:
        (shift,) = tails[0].shifts
        assert (shift.before, shift.at, shift.verdict) == ("r4", "r5", "slower")
        assert 1.25 < shift.ratio < 2.2
        assert [curve["quantile"] for curve in as_json(past)["tails"]] == [0.99]
    assert len(as_json(past)["curves"]) == 1


def started_s(number: int) -> pl.Expr:
    return (pl.col("started_s") + 86400 * number).alias("started_s")
