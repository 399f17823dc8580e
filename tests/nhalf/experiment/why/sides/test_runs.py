"""Runs of the model machine, launched again in mixtures with the real probe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.experiment.why.sides.runs import run_ways, surrounded_by
from tests.nhalf.experiment.why.sides.runs import measured, named, planted

LEAST = 0.02


def test_the_planted_option_of_many_is_named(tmp_path: Path) -> None:
    ways, causes = planted(tmp_path, 3)
    assert len(ways.switches) >= 20
    assert ways.are_exact
    assert named(ways) == [causes]


@pytest.mark.full
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("noise", ["", "noise=0.02,launch_noise=0.03"])
def test_twenty_trials(tmp_path: Path, noise: str) -> None:
    right = wrong = 0
    for seed in range(20):
        ways, causes = planted(tmp_path, seed, noise)
        sets = named(ways, seed)
        right += sets == [causes]
        wrong += bool(set().union(*sets) - causes)
    assert right >= 19
    assert wrong == 0


def test_equal_runs_have_no_switch(tmp_path: Path) -> None:
    a, b = (measured(tmp_path / name, "L=5e-6", 1) for name in "ab")
    ways = run_ways((a, ""), (b, ""), LEAST)
    assert not ways.switches
    assert not ways.is_recorded_different
    assert ways.recorded_ratio == 1.0


def test_records_that_differ_in_nothing_that_can_be_switched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = measured(tmp_path / "a", "L=5e-6", 1)
    b = measured(tmp_path / "b", "L=8e-6", 1)
    # As if another machine had made it slower: the plan is the same, the host is not.
    b.plan["options"] = a.plan["options"]
    b.environment["host"] = "n17"
    ways = run_ways((a, ""), (b, ""), LEAST)
    assert not ways.switches
    assert ways.is_recorded_different
    assert "host" in [switch.name for switch in ways.not_tried]


def test_recorded_variables_are_switches_without_those_of_a_job(tmp_path: Path) -> None:
    a, b = (measured(tmp_path / name, "", 1) for name in "ab")
    b.environment["variables"] = {"FI_PROVIDER": "tcp", "SLURM_JOB_ID": "7", "PMI_RANK": "1"}
    ways = run_ways((a, ""), (b, ""), LEAST)
    assert [switch.title for switch in ways.switches] == ["FI_PROVIDER: – → tcp"]


def test_variables_are_this_process_s_for_the_time_of_a_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FI_PROVIDER", "shm")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    with surrounded_by({"UCX_TLS": "tcp"}):
        assert "FI_PROVIDER" not in os.environ
        assert os.environ["UCX_TLS"] == "tcp"
        assert os.environ["SLURM_JOB_ID"] == "7"
    assert os.environ["FI_PROVIDER"] == "shm"
    assert "UCX_TLS" not in os.environ


def test_runs_of_different_patterns_are_refused(tmp_path: Path) -> None:
    a = measured(tmp_path / "a", "", 1)
    b = measured(tmp_path / "b", "", 1, "exchange")
    with pytest.raises(InputError, match="different patterns"):
        run_ways((a, ""), (b, ""), LEAST)
