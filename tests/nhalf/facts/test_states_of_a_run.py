"""Runs on the model machine while it changes between states: one of them is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.exchange.exporters.extrap import ExtraP
from nhalf.experiment.tune.bench import launch_times
from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import machine_states
from nhalf.facts.overview import overview
from nhalf.statistics.query import query
from nhalf.statistics.summary import launch_medians
from nhalf.store.run import Run
from tests.server import Ended

FASTEST_S = 7e-6
"""What a small message takes in the fastest state: o_s + L + o_r."""
NOISE = 0.05
STATES = "states=3,state_slow=1.6,state_fraction=0.4,state_dwell=1000,flag_s=5e-8"


def measured(call: Callable[..., Ended], out: Path, model: str) -> Facts:
    where = ["--transport", "model", "--pattern", "pingpong", "--ranks", "2", "--bytes", "0:64K"]
    assert call("run", *where, "--model", f"noise={NOISE},{model}", "--out", out).code == 0
    return Facts.of([Run.open(out)])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_states_are_no_switches(seed: int, call: Callable[..., Ended], tmp_path: Path) -> None:
    facts = measured(call, tmp_path / "run", f"{STATES},seed={seed}")
    (machine,) = machine_states(facts)
    assert len(machine.states) > 1
    assert machine.states[0].flag_s == pytest.approx(50e-9)
    (line,) = overview(facts)
    assert line.switches == ()
    assert line.latency_s == pytest.approx(FASTEST_S, rel=NOISE)
    small = facts.sound.filter(pl.col("bytes") <= 256)["median_s"]
    assert small.max() < 1.2 * FASTEST_S  # type: ignore[operator]


def test_a_switch_is_found_in_spite_of_states(call: Callable[..., Ended], tmp_path: Path) -> None:
    switch = "eager_bytes=2048,rendezvous_s=3e-6"
    facts = measured(call, tmp_path / "run", f"{STATES},{switch},seed=1")
    (line,) = overview(facts)
    assert [low <= 2048 <= high for low, high in line.switches] == [True]


LOGP = ("overhead-send", "overhead-recv", "gap", "roundtrip")
LATENCY_S, PER_BYTE_S = 5e-6, 1e-10
TWO_STATES = "states=2,state_slow=2,state_fraction=0.5,state_dwell=300,flag_s=5e-8,flag_slow=3"


def test_launches_are_those_of_the_reported_state(
    call: Callable[..., Ended], tmp_path: Path
) -> None:
    """Without noise, launches of one state agree; with those of the other one, they do not."""
    where = ["--transport", "model", "--pattern", ",".join(LOGP), "--ranks", "2"]
    how = ["--bytes", "0,1,64K,256K", "--launches", "6", "--model", f"{TWO_STATES},seed=1"]
    assert call("run", *where, *how, "--out", tmp_path / "run").code == 0
    run = Run.open(tmp_path / "run")
    facts = Facts.of([run])
    assert _spread(launch_medians(facts.measurements)) > 1.3
    assert not facts.stated["elsewhere"].any()
    assert _spread(launch_times(run.measurements())) == pytest.approx(1)
    assert _spread(query("select * from launches", [run])) == pytest.approx(1)
    exported = json.loads(ExtraP().text(facts))["measurements"]
    values = [point["values"] for path in exported.values() for point in path["time"]]
    assert len(values) == len(LOGP) * 4
    assert all(max(times) == pytest.approx(min(times)) for times in values)
    (result,) = facts.results["logp"]
    assert result["latency_s_ci"] == pytest.approx([LATENCY_S + PER_BYTE_S] * 2, rel=1e-6)
    (parameters,) = facts.loggp
    assert parameters.gap_per_byte_s == pytest.approx(PER_BYTE_S, rel=1e-6)
    assert parameters.gap_per_byte_ci == pytest.approx((PER_BYTE_S, PER_BYTE_S), rel=1e-6)


def _spread(launches: pl.DataFrame) -> float:
    """The largest ratio of two launches of one point."""
    of_points = launches.group_by("pattern", "bytes").agg(
        spread=pl.col("median_s").max() / pl.col("median_s").min()
    )
    return of_points["spread"].max()  # type: ignore[return-value]
