"""What the tests say of their own times, in small runs of pytest with limits of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import patience, times

ROOT = Path(__file__).resolve().parent.parent
HEAD = """
import time, pytest
from tests import patience, times
times.LIMIT_S = 0.05
patience.slowness = lambda: {slowness}
patience.os.getloadavg = lambda: (0.0, 0.0, 0.0)

def compute():
    end_s = time.process_time() + 0.3
    while time.process_time() < end_s: pass
"""
LONG = """
def test_long(): compute()
@pytest.mark.slow
def test_slow(): compute()
@pytest.mark.full
def test_full(): compute()
def test_brief(): pass
def test_waits(): time.sleep(0.2)
"""
WAITING = """
@pytest.mark.timeout(0.2)
def test_waiting(): time.sleep(1.0)
"""


def run(folder: Path, text: str, slowness: float, *words: str) -> tuple[list[str], list[str]]:
    """All lines that pytest prints for tests of a wing, and the last one without its time."""
    file = folder / "tests" / "nhalf" / "base" / "test_small.py"
    file.parent.mkdir(parents=True)
    file.write_text(HEAD.format(slowness=slowness) + text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow: x\n  full: x\n  sampled: x\n")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q"]
    done = subprocess.run(
        [*command, "-p", "tests.times", "-p", "tests.schedule", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    return lines, lines[-1].rpartition(" in ")[0].split(", ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="one"),
        pytest.param(("-n", "2", "--dist", "loadfile"), id="two", marks=pytest.mark.full),
    ],
)
def test_a_long_test_without_a_mark_fails_and_what_is_left_is_counted(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    lines, last = run(tmp_path, LONG, 1, "-m", "not full", *workers)
    assert last[:2] == ["1 failed", "3 passed"]
    assert "mark it slow, or make it faster" in "".join(lines)
    (named,) = (line for line in lines if " call failed: " in line)
    assert named.endswith("tests/nhalf/base/test_small.py::test_long")
    assert "1 tests are left for `make test-full`" in lines
    assert any(line.startswith("per wing: base ") for line in lines)
    slowest = [line.partition("::")[2] for line in lines if " s  tests/" in line]
    assert sorted(slowest[:2]) == ["test_long", "test_slow"]
    assert slowest[2:] == ["test_waits", "test_brief"]


def test_what_is_left_for_the_other_tier_is_slow(tmp_path: Path) -> None:
    assert run(tmp_path, LONG, 1, "-m", "slow")[1][0] == "2 passed"


def test_who_is_the_first_to_need_a_probe_is_given_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = tmp_path / "cache" / "nhalf" / "probes" / "one" / "compile.log"
    log.parent.mkdir(parents=True)
    compiles = f"def test_first(): compute(); open({str(log)!r}, 'w').close()\n"
    assert run(tmp_path / "small", compiles + LONG, 1, "-m", "not slow")[1][:2] == [
        "1 failed",
        "3 passed",
    ]


CASES = """
@pytest.mark.sampled(3)
@pytest.mark.parametrize("other", ["x", "y"])
@pytest.mark.parametrize("case", [1, 2, 3, pytest.param(4, marks=pytest.mark.full)])
def test_cases(case, other): pass
"""


def test_some_cases_are_sampled_and_the_others_left(tmp_path: Path) -> None:
    lines, last = run(tmp_path / "few", CASES, 1, "-m", "not full", "-rA")
    assert (last[0][-8:], last[1]) == ("3 passed", "5 deselected")
    passed = {
        line.partition("[")[2].partition("]")[0] for line in lines if line.startswith("PASSED")
    }
    assert {case.partition("-")[0] for case in passed} == {"1", "2", "3"}
    assert {case.partition("-")[2] for case in passed} == {"x", "y"}
    assert run(tmp_path / "all", CASES, 1)[1] == ["8 passed"]


def test_a_sample_has_every_value_that_it_can_have_and_is_spread() -> None:
    assert times.sample([{"a": number} for number in range(9)], 3) == [0, 8, 4]
    assert times.sample([], 2) == []
    assert times.sample([{"a": 0}], 2) == [0]
    assert times.sample([{"a": 0}, {"a": 1}], 0) == []
    square = [{"a": row, "b": column} for row in range(3) for column in range(3)]
    assert len({case["a"] for case in (square[p] for p in times.sample(square, 3))}) == 3
    assert len({case["b"] for case in (square[p] for p in times.sample(square, 3))}) == 3


@pytest.mark.full
def test_a_slow_machine_is_given_time(tmp_path: Path) -> None:
    assert run(tmp_path / "long", LONG, 100)[1] == ["5 passed"]
    assert run(tmp_path / "patient", WAITING, 100)[1] == ["1 passed"]
    assert run(tmp_path / "quick", WAITING, 1)[1] == ["1 failed"]


def test_a_machine_is_as_slow_as_its_work_and_as_its_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_measured", (float("-inf"), 1.0))
    monkeypatch.setattr(patience, "REFERENCE_S", 1e-9)
    assert patience.slowness() > 1000
    monkeypatch.setattr(patience, "_measured", (float("-inf"), 1.0))
    monkeypatch.setattr(patience, "REFERENCE_S", 1e9)
    assert patience.slowness() == 1.0
    monkeypatch.setattr(os, "getloadavg", lambda: (60.0, 0.0, 0.0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert patience.patience_s(0.5) == 10.0
