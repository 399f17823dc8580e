"""Noise on the virtual network: at random, and the same for the same seed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.wires import Noise
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.store.run import Run
from tests.nhalf.measure.virtual.programs import built, library_of, tried

SHARE = 0.2
ROUNDS, SIZES = 10, 13
OVERHEADS_S = 1.5e-6 + 2.5e-6


@pytest.mark.full
def test_noise_depends_on_its_seed_and_has_its_mean(programs: Path, plain: Path) -> None:
    program = built("mpich", "pingpong", programs)

    def times(options: str) -> str:
        outcome = tried(str(plain), "mpich", 2, program, options=f"--placement 2x1 {options}")
        assert outcome.exit_code == 0, outcome.stderr
        assert re.search(r", noise of 20 % by seed [12]$", outcome.stderr.strip())
        return outcome.stdout

    first, again, other = (times(f"--noise 20% --seed {seed}") for seed in (1, 1, 2))
    assert first == again != other
    curve = Messages(catalogue.machine(str(plain))).between_nodes[0][1]
    added = []
    for line in (first + other).splitlines():
        size, time_ps = line.split()
        alone_s = curve.time_s(int(size))
        added.append((float(time_ps) * 1e-12 - alone_s) / (alone_s - OVERHEADS_S))
    # Twice as many messages as rounds, of two runs, each with a deviation of the mean itself.
    error = SHARE / math.sqrt(2 * 2 * ROUNDS * SIZES)
    assert len(added) == 2 * SIZES
    assert fmean(added) == pytest.approx(SHARE, abs=4 * error)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--noise", "1100%"], "take a share up to 1000%"),
        (["--noise", "much"], "'much' is not a share"),
        (["--noise", "1%", "--seed", str(2**63)], "a seed up to 9223372036854775807"),
        (["--seed", "3"], "--seed is that of a noise, and there is none; add --noise 10%"),
    ],
)
def test_what_is_no_noise_is_refused(
    call: Callable[..., Any], words: list[str], message: str
) -> None:
    ended = call("try", "--machine", "sp2-mpl", *words, "--", "true")
    assert ended.code == 2
    assert message in ended.err


def test_every_launch_has_a_noise_of_its_own() -> None:
    messages = Messages(catalogue.machine("altix-bx2"))
    exact, noisy = (VirtualMachine(messages, 2, Noise(share, 7)) for share in (0.0, 0.1))
    launches = {noisy.wires(2, "2x1", launch) for launch in (0, 1, 2)}
    assert len(launches) == 3
    assert "noise 100000 7002" in noisy.wires(2, "2x1", 2)
    assert exact.is_exact
    assert not noisy.is_exact
    assert not VirtualMachine(messages, 2, computing_factor=2.0).is_exact


def test_noise_of_a_large_seed_stays_a_seed() -> None:
    seeds = {Noise(0.1, 2**63 - 1).of_launch(launch).seed for launch in (0, 999)}
    assert len(seeds) == 2
    assert max(seeds) < 2**63


def test_launches_of_a_run_differ_by_its_noise(call: Callable[..., Any], tmp_path: Path) -> None:
    words = ("--pattern", "pingpong", "--bytes", "8", "--mpi", library_of("mpich").name)
    noise = ("--placement", "2x1", "--noise", "10%", "--seed", "3", "--launches", "2")
    ended = call("run", "--machine", "altix-bx2", *words, *noise, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    run = Run.open(tmp_path / "run")
    about = {"noise_share": 0.1, "seed": 3, "computing_factor": 0.0}
    assert run.virtual == {"machine": "altix-bx2", "nodes": 2, "library": "", **about}
    points = [event for event in run.whole_events() if event["event"] == "point"]
    assert len({fmean(point["samples_s"]) for point in points}) == len(points) >= 2
    assert "launches differ by a noise of 10 % by seed 3" in ended.out + ended.err


@pytest.mark.full
def test_a_noisy_run_repeats_itself(call: Callable[..., Any], tmp_path: Path) -> None:
    words = ("--pattern", "allreduce", "--bytes", "8", "--mpi", library_of("mpich").name)
    noise = ("--ranks", "4", "--noise", "10%", "--launches", "2")
    samples = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        options = (*words, *noise, "--seed", seed, "--out", tmp_path / name)
        assert call("run", "--machine", "altix-bx2", *options).code == 0
        events = Run.open(tmp_path / name).whole_events()
        points = [event for event in events if event["event"] == "point"]
        samples.append({(p["launch"], p["placement"]): p["samples_s"][:2] for p in points})
    assert samples[0] == samples[1] != samples[2]
