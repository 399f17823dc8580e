"""Delays that are injected, beside a machine that is slower by just that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nhalf.decide.program.slowdown import BYTE
from nhalf.decide.program.tolerance_curves import SlowedLaunch
from nhalf.facts.program.program import Program
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from tests.nhalf.conftest import MACHINE
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


def slower(delay: str, folder: Path) -> Path:
    """The file of the machine with that delay."""
    text = MACHINE
    for usual, changed in SLOWER[delay].items():
        assert usual in text
        text = text.replace(usual, changed)
    path = folder / "slower.toml"
    path.write_text(text)
    return path


EACH = ("--from", "0,1,2,3")
"""All messages, but chosen: the tracer delays each, where otherwise the network is slower."""
DIAGONAL = (("burst", "latency=5us", EACH), ("ring", "byte=1ns", ()))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("word", "delay", "chosen"),
    [
        *DIAGONAL,
        *(
            pytest.param(word, delay, chosen, marks=pytest.mark.full)
            for word in ("burst", "pipeline", "overlap", "ring")
            for delay in SLOWER
            for chosen in ((), EACH)
            if (word, delay, chosen) not in DIAGONAL
        ),
    ],
)
def test_a_delay_is_a_slower_machine(
    word: str, delay: str, chosen: Sequence[str], programs: Path, plain: Path, tmp_path: Path
) -> None:
    program = built("mpich", "planted", programs)
    expected_s = elapsed_s(slower(delay, tmp_path), program, word, tmp_path / "slower")
    injected_s = elapsed_s(plain, program, word, tmp_path / "injected", "--inject", delay, *chosen)
    assert injected_s == pytest.approx(expected_s, rel=EXACT)


@pytest.mark.full
def test_messages_within_an_operation_are_delayed(
    programs: Path, plain: Path, tmp_path: Path
) -> None:
    """Three sums on four ranks: MPICH scatters parts of them and gathers these, in 4 messages."""
    program = built("mpich", "planted", programs)
    usual_s = elapsed_s(plain, program, "ring", tmp_path / "usual")
    delay = ("--inject", "latency=5us", "--calls", "MPI_Allreduce")
    injected_s = elapsed_s(plain, program, "ring", tmp_path / "injected", *delay)
    assert injected_s - usual_s == pytest.approx(3 * 4 * 5e-6, rel=EXACT)


@pytest.mark.full
def test_a_timeline_tells_which_messages_an_operation_has(
    programs: Path, plain: Path, tmp_path: Path
) -> None:
    """Those sums have 1500 bytes on their path; in a tree they would have 2000 in fewer messages,
    which would take half as long.
    """
    program = built("mpich", "planted", programs)
    usual_s = elapsed_s(plain, program, "ring", tmp_path / "usual", "--detail", "timeline")
    slower_s = elapsed_s(slower("byte=1ns", tmp_path), program, "ring", tmp_path / "slower")
    launch = SlowedLaunch(Program.open(tmp_path / "usual"), Messages(catalogue.machine(str(plain))))
    lost_s, _, _ = launch.lost_s(BYTE, 1e-9)
    assert lost_s == pytest.approx(slower_s - usual_s, rel=0.01)
