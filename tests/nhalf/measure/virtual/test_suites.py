"""Benchmarks of messages in virtual time: IMB as Intel's wheel brings it, and OSU's ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nhalf.machines import catalogue
from nhalf.machines.curve import loggp_of
from nhalf.machines.machine import FittedModel
from nhalf.machines.message import Messages
from tests.nhalf.measure.virtual.programs import built, library_of, tried

CLOCK_US = 1e-3
"""What a reading of the clock adds to a message of ten rounds, or to one of more."""
LATER = ("intel", "openmpi")
"""What works with one library works with these as a rule."""
IMB_SUITE = (
    *("PingPong", "PingPing", "Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_local"),
    *("Reduce_scatter", "Reduce_scatter_block", "Allgather", "Allgatherv", "Gather", "Gatherv"),
    *("Scatter", "Scatterv", "Alltoall", "Alltoallv", "Bcast", "Barrier"),
)
WHOLE_S = 1800.0
every_library = pytest.mark.parametrize(
    "vendor", ["mpich", *(pytest.param(name, marks=[pytest.mark.full]) for name in LATER)]
)


def imb() -> Path:
    """IMB-MPI1, which the wheel of Intel MPI brings; skips a test without it."""
    return library_of("intel").prefix / "bin/IMB-MPI1"


def rows(text: str) -> dict[int, float]:
    """Times by size, of lines that have nothing else."""
    pairs = (line.split() for line in text.splitlines())
    return {int(size): float(time) for size, time in pairs}


def curve_between_nodes(machine: str) -> tuple[Messages, FittedModel]:
    messages = Messages(catalogue.machine(machine))
    return messages, messages.between_nodes[0][1]


@every_library
def test_a_ping_pong_takes_the_curves_time(vendor: str, programs: Path, plain: Path) -> None:
    _, curve = curve_between_nodes(str(plain))
    program = built(vendor, "streams", programs)
    outcome = tried(str(plain), vendor, 2, program, "latency", options="--placement 2x1")
    assert outcome.exit_code == 0, outcome.stderr
    times_us = {size: time_ps / 1e6 for size, time_ps in rows(outcome.stdout).items()}
    assert len(times_us) == 6
    for size, time_us in times_us.items():
        assert time_us == pytest.approx(curve.time_s(size) * 1e6, abs=CLOCK_US), size


@every_library
@pytest.mark.parametrize(
    "ranks", [2, pytest.param(8, marks=[pytest.mark.full])], ids=["one pair", "four pairs"]
)
def test_messages_in_flight_take_the_curves_rate(
    vendor: str, ranks: int, programs: Path, plain: Path
) -> None:
    """Pairs that are not in each other's way: nodes are at the ends of one wire each."""
    messages, curve = curve_between_nodes(str(plain))
    gap_s = loggp_of(messages.machine, curve).gap_s or 0.0
    per_byte_s = 1 / curve.segments[0].r_inf_Bps
    program = built(vendor, "streams", programs)
    options = f"--placement {ranks}x1"
    outcome = tried(str(plain), vendor, ranks, program, "bandwidth", options=options)
    assert outcome.exit_code == 0, outcome.stderr
    times_ps = rows(outcome.stdout)
    assert len(times_ps) == 6
    for size, time_ps in times_ps.items():
        assert time_ps == pytest.approx(max(gap_s, size * per_byte_s) * 1e12, rel=1e-5), size


@every_library
@pytest.mark.parametrize(
    ("way", "ranks"), [("allreduce", 5), pytest.param("both", 2, marks=[pytest.mark.full])]
)
def test_other_ways_of_osu_end(vendor: str, way: str, ranks: int, programs: Path) -> None:
    outcome = tried("altix-bx2", vendor, ranks, built(vendor, "streams", programs), way)
    assert outcome.exit_code == 0, outcome.stderr
    times_ps = list(rows(outcome.stdout).values())
    assert len(times_ps) >= 5
    assert times_ps == sorted(times_ps)


def test_a_put_takes_its_message_and_an_answer(programs: Path, plain: Path) -> None:
    _, curve = curve_between_nodes(str(plain))
    program = built("mpich", "streams", programs)
    outcome = tried(str(plain), "mpich", 2, program, "put", options="--placement 2x1")
    assert outcome.exit_code == 0, outcome.stderr
    times_ps = rows(outcome.stdout)
    assert len(times_ps) == 6
    for size, time_ps in times_ps.items():
        least_ps = (curve.time_s(size) + curve.time_s(0)) * 1e12
        assert least_ps <= time_ps < 1.1 * least_ps, size


@pytest.mark.parametrize("vendor", ["intel", pytest.param("mpich", marks=[pytest.mark.full])])
def test_imb_prints_the_curve(vendor: str, plain: Path) -> None:
    _, curve = curve_between_nodes(str(plain))
    words = ["PingPong", "-msglog", "0:22", "-iter", "20"]
    outcome = tried(str(plain), vendor, 2, imb(), *words, options="--placement 2x1")
    assert outcome.exit_code == 0, outcome.stderr
    printed = re.findall(r"^ +(\d+) +\d+ +([\d.]+) +[\d.]+$", outcome.stdout, re.M)
    assert len(printed) == 24
    for size, time_us in printed:
        # It prints two digits behind the point.
        expected_us = curve.time_s(int(size)) * 1e6
        assert float(time_us) == pytest.approx(expected_us, abs=6e-3), size


@pytest.mark.parametrize("vendor", ["mpich", pytest.param("intel", marks=[pytest.mark.full])])
def test_every_benchmark_of_imb_ends(vendor: str) -> None:
    words = ["-msglog", "6:10", "-iter", "5", "-npmin", "3"]
    outcome = tried("altix-bx2", vendor, 3, imb(), *words)
    check_suite(outcome.exit_code, outcome.stdout, outcome.stderr)


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("vendor", ["mpich", "intel"])
def test_imb_ends_as_it_is_called_without_arguments(vendor: str, ranks: int) -> None:
    outcome = tried("altix-bx2", vendor, ranks, imb(), timeout_s=WHOLE_S)
    check_suite(outcome.exit_code, outcome.stdout, outcome.stderr)


def check_suite(exit_code: int, text: str, problems: str) -> None:
    """Every benchmark of IMB-MPI1 has run."""
    assert exit_code == 0, problems
    assert sorted(set(re.findall(r"^# Benchmarking (\w+)", text, re.M))) == sorted(IMB_SUITE)
    assert text.rstrip().endswith("# All processes entering MPI_Finalize")
