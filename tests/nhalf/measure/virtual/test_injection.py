# SPDX-License-Identifier: Apache-2.0
"""Delays that are injected, beside a machine that is slower by just that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.facts.program.program import Program
from tests.nhalf.measure.virtual.conftest import MACHINE
from tests.nhalf.measure.virtual.programs import TIMEOUT_S, built, library_of
from tests.patience import patience_s

EXACT = 1e-6
SLOWER = {
    "latency=5us": {"t0_s = 9e-6": "t0_s = 14e-6"},
    "overhead=1us": {
        "t0_s = 9e-6": "t0_s = 11e-6",
        "send_overhead_s = 1.5e-6": "send_overhead_s = 2.5e-6",
        "recv_overhead_s = 2.5e-6": "recv_overhead_s = 3.5e-6",
    },
    "byte=1ns": {"r_inf_Bps = 1e9": "r_inf_Bps = 0.5e9"},
}
"""What each delay changes in the file of the machine."""


def elapsed_s(machine: Path, program: Path, word: str, out: Path, *inject: str) -> float:
    """The run time of a program of four ranks, one on each node."""
    nhalf = [sys.executable, "-m", "nhalf"]
    command = [*nhalf, "trace", "--quiet", "--out", str(out), *inject, "--", *nhalf, "try"]
    command += ["--machine", str(machine), "--ranks", "4", "--placement", "4x1", "--mpi"]
    command += [library_of("mpich").name, "--", str(program), word]
    limit_s = patience_s(4 * TIMEOUT_S)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    assert ended.returncode == 0, ended.stderr
    return Program.open(out).elapsed_s


@pytest.mark.parametrize(
    ("word", "delay"),
    [
        ("burst", "latency=5us"),
        *(
            pytest.param(word, delay, marks=pytest.mark.full)
            for word in ("burst", "pipeline", "overlap")
            for delay in SLOWER
            if (word, delay) != ("burst", "latency=5us")
        ),
    ],
)
def test_a_delay_is_a_slower_machine(
    word: str, delay: str, programs: Path, plain: Path, tmp_path: Path
) -> None:
    program = built("mpich", "planted", programs)
    slower = tmp_path / "slower.toml"
    text = MACHINE
    for usual, changed in SLOWER[delay].items():
        assert usual in text
        text = text.replace(usual, changed)
    slower.write_text(text)
    expected_s = elapsed_s(slower, program, word, tmp_path / "slower")
    injected_s = elapsed_s(plain, program, word, tmp_path / "injected", "--inject", delay)
    assert injected_s == pytest.approx(expected_s, rel=EXACT)
