"""The self test: its truth is right, its promises hold, and it can fail."""

from __future__ import annotations

import dataclasses
import json
import stat
from pathlib import Path

import numpy as np
import pytest

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.native_files import executable
from nhalf.experiment.selftest import selftest as module
from nhalf.experiment.selftest.selftest import PromisedFigure, selftest
from nhalf.experiment.selftest.simulated_runs import SIZES, ModelMachine, simulate_worlds


def probe_is_built() -> bool:
    try:
        executable("probe-model")
    except MissingError:
        return False
    return True


needs_probe = pytest.mark.skipif(not probe_is_built(), reason="the model probe was not built")


def test_the_truth_by_simulation() -> None:
    machine = ModelMachine()
    random = np.random.default_rng(1)
    slow = np.where(random.random(1_000_000) < 0.2, 1.25, 1.0)
    drawn = 7e-6 * slow * np.exp(0.05 * random.standard_normal(1_000_000))
    assert machine.median_s(np.zeros(1))[0] == pytest.approx(np.median(drawn), rel=3e-4)


def test_the_truth_without_noise_or_states() -> None:
    sizes = np.array([0.0, 1000.0])
    still = dataclasses.replace(ModelMachine(), noise=0.0)
    assert still.median_s(sizes) == pytest.approx([7e-6, 8e-6])
    assert ModelMachine().steady().median_s(sizes) == pytest.approx([7e-6, 8e-6])
    assert ModelMachine().slower(1.25).steady().median_s(sizes) == pytest.approx([8.75e-6, 1e-5])
    mostly_slow = dataclasses.replace(still, state_fraction=0.7)
    assert mostly_slow.median_s(sizes) == pytest.approx([8.75e-6, 1e-5])


def test_the_curve_has_24_sizes() -> None:
    assert len(set(SIZES)) == 24


def test_a_promise_outside_its_range_is_broken() -> None:
    held = PromisedFigure("x", "x", 0.95, 0.93, 0.975, 10)
    broken = PromisedFigure("x", "x", 0.92, 0.93, 0.975, 10)
    assert held.held
    assert not broken.held
    assert not module.SelfTest(20, 1, [held, broken]).held


def test_too_few_runs_show_nothing() -> None:
    with pytest.raises(InputError, match="20 or more"):
        selftest(3)


def test_a_probe_that_fails_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin" / "probe-model"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'no such option' >&2\nexit 2\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path))
    with pytest.raises(FailedError, match="0 of 2400 points: no such option"):
        selftest(20)


@needs_probe
def test_simulated_launches_differ_and_repeat() -> None:
    """Equal seeds give equal numbers; other launches and runs give others."""
    one, two = (simulate_worlds([(ModelMachine(), 2)], seed=5)[0] for _ in range(2))
    assert one.summary.equals(two.summary)
    medians = [median for frame in one.medians for median in frame["median_s"]]
    assert len(set(medians)) == len(medians)


@needs_probe
@pytest.mark.slow
def test_promises_hold_on_a_few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_RUNS", 10)
    monkeypatch.setattr(module, "LEAST_NIGHTS", 2)
    monkeypatch.setattr(module, "DIFFERING", (0.02, 0.15))
    check_promises(10)


@needs_probe
@pytest.mark.full
def test_promises_hold_on_more_runs() -> None:
    check_promises(30)


def check_promises(runs: int) -> None:
    """The published bars, coverage with room for so few runs."""
    result = selftest(runs, seed=3)
    checks = {check.name: check for check in result.checks}
    assert 0.93 < checks["coverage"].value < 0.999
    assert checks["false_alarms"].value <= 1 / runs
    assert checks["detected_1.05"].value > 0.8
    assert checks["detected_1.25"].value == 1
    assert checks["coverage_2"].value > 0.9
    assert checks["coverage_3"].value > 0.9
    assert all(checks[f"coverage_unlike_{launches}"].value > 0.9 for launches in (2, 3, 5))
    assert checks["false_bimodal"].held
    assert checks["false_launch_apart"].held
    assert checks["false_drift"].held
    written = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert {check["name"] for check in written["checks"]} == set(checks)


@pytest.mark.full
@needs_probe
def test_a_wrong_interval_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half as wide, and the self test says so: it is able to fail."""
    monkeypatch.setattr("nhalf.statistics.next_run.BETWEEN_RUNS", -0.14)
    result = selftest(20)
    assert not next(check for check in result.checks if check.name == "coverage").held
    assert not result.held
