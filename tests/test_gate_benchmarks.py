"""The figures of the guide on gates: simulated, on the model transport, and on recorded looks."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tools.benchmarks import gates

from nhalf.base.native_files import executable

PAST, TRIALS = 20, gates.TRIALS


def verdicts(count: int, slow: float, deviation: float = 0.01) -> Counter[str]:
    """Those of gates of two cores in normal noise, of which one takes longer."""
    random = np.random.default_rng(1)
    return Counter(
        gates.simulated(random, gates.normal, 2, PAST, deviation, slow) for _ in range(count)
    )


@pytest.mark.parametrize(("slow", "least"), [(1.1, 45), (1.2, 50), (1.5, 50)])
def test_a_slow_core_is_found_in_simulated_gates(slow: float, least: int) -> None:
    assert verdicts(TRIALS, slow)["no-go"] >= least


@pytest.mark.full
def test_of_500_simulated_gates_without_a_change_at_most_one_is_a_no_go() -> None:
    assert verdicts(500, 1.0)["no-go"] <= 1


def test_a_link_at_half_its_rate_is_named_on_the_model_transport() -> None:
    executable("probe-model")
    baseline = [gates.link_gate(seed, 1.0, []).times_s for seed in range(1, 11)]
    assert [gates.link_gate(seed, 1.0, baseline).verdict for seed in (1000, 1001)] == ["go", "go"]
    slow = gates.link_gate(1002, gates.LINK_FACTOR, baseline)
    assert gates.verdict_with_name(slow) == "no-go, transfer n1 n2"


def test_recorded_gates_that_differ_much_are_unsure_and_never_a_false_no_go() -> None:
    recordings = gates.recorded(gates.RECORDINGS)
    random = np.random.default_rng(1)
    sound = Counter(gates.replayed(random, recordings, PAST, 1.0) for _ in range(60))
    assert sound["no-go"] == 0
    slowed = Counter(gates.replayed(random, recordings, PAST, 4.0) for _ in range(20))
    assert slowed["no-go"] >= 15


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_what_slows_a_core_compiles_and_leaves_other_programs_alone(tmp_path: Path) -> None:
    library = tmp_path / "slow_core.so"
    source = Path(gates.__file__).parent / "slow_core.c"
    words = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*words, "-o", str(library), str(source)], check=True)
    slow = {"LD_PRELOAD": str(library), "SLOW_CORE": "0", "SLOW_FACTOR": "2"}
    # A signal without a handler would end it.
    loop = "kill -USR2 $$"
    assert subprocess.run(["sh", "-c", loop], env=slow, check=False).returncode == -signal.SIGUSR2
    probe = tmp_path / "probe-sh"
    probe.symlink_to(shutil.which("sh") or "/bin/sh")
    assert subprocess.run([str(probe), "-c", loop], env=slow, check=False).returncode == 0
