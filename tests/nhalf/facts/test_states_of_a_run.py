# SPDX-License-Identifier: Apache-2.0
"""A run on the model machine while it changes between three states: one of them is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import machine_states
from nhalf.facts.overview import overview
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
