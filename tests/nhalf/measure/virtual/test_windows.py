"""One-sided operations of every library over the virtual network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, every_library, in_turn, tried

PARTS = ["put", "accumulate", "get", "lock", "swap", "fetch", "sum", "post"]
CLOCK_US = 0.01
"""What reading the clock takes."""
ROUND_US = {8: 14.008, 16384: 30.384, 131072: 145.072}
"""On the machine `plain`: send overhead, the way there and back, and receive overhead."""


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=pytest.mark.full)])
def test_windows_are_written_and_read(vendor: str, ranks: int, programs: Path, plain: Path) -> None:
    program = built(vendor, "windows", programs)
    options = f"--placement {ranks}x1"
    outcomes = [tried(str(plain), vendor, ranks, program, options=options) for _ in range(2)]
    assert [outcome.stdout.split() for outcome in outcomes] == [PARTS] * 2, outcomes[0].stderr
    virtual = {outcome.stderr.splitlines()[-1].partition(" virtual")[0] for outcome in outcomes}
    assert len(virtual) == 1


@pytest.mark.slow
def test_open_mpi_reaches_memory_in_the_time_of_the_ways(programs: Path, plain: Path) -> None:
    program = built("openmpi", "windows", programs)
    outcome = tried(str(plain), "openmpi", 2, program, "times", options="--placement 2x1")
    # The first get also asks where the memory is.
    for line in outcome.stdout.splitlines()[1:]:
        size, *times_us = line.split()
        expected = pytest.approx(ROUND_US[int(size)] + CLOCK_US, rel=1e-5)
        assert [float(time_us) for time_us in times_us] == [expected] * 2, size


@pytest.mark.sampled(2)
@in_turn("mpich")
def test_one_sided_operations_of_messages_take_a_round_trip(
    vendor: str, programs: Path, plain: Path
) -> None:
    program = built(vendor, "windows", programs)
    outcome = tried(str(plain), vendor, 2, program, "times", options="--placement 2x1")
    lines = [[float(word) for word in line.split()] for line in outcome.stdout.splitlines()]
    assert len(lines) == 4, outcome.stderr
    assert all(min(times_us) > ROUND_US[int(size)] for size, *times_us in lines)


@pytest.mark.parametrize(
    ("vendor", "time_us"),
    [
        ("mpich", 1e6),
        pytest.param("intel", 1e6, marks=pytest.mark.full),
        pytest.param("openmpi", 0, marks=pytest.mark.slow),
    ],
)
def test_a_target_that_calls_nothing(
    vendor: str, time_us: float, programs: Path, plain: Path
) -> None:
    program = built(vendor, "windows", programs)
    outcome = tried(str(plain), vendor, 2, program, "asleep", options="--placement 2x1")
    number, _, waited_us, _ = outcome.stdout.split()
    assert number == "1007"
    assert time_us < float(waited_us) < time_us + 50


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "vendor",
    [
        "mpich",
        pytest.param("intel", marks=pytest.mark.full),
        pytest.param("openmpi", marks=pytest.mark.slow),
    ],
)
def test_the_deadlock_of_a_lock_is_named(vendor: str, programs: Path, plain: Path) -> None:
    program = built(vendor, "windows", programs)
    outcome = tried(str(plain), vendor, 2, program, "deadlock", options="--placement 2x1")
    assert outcome.exit_code == 1
    assert "rank 0 waits in MPI_Recv for rank 1, tag 5; rank 1 waits in MPI_Win_lock;" in (
        outcome.stderr
    )


@pytest.mark.parametrize(
    ("vendor", "part", "reason"),
    [
        ("intel", "shared", "MPI_Win_allocate_shared gives ranks memory that they share"),
        pytest.param(
            "openmpi", "", "windows of Open MPI bypass the network", marks=pytest.mark.slow
        ),
    ],
)
def test_windows_within_a_node_that_bypass_the_network_are_refused(
    vendor: str, part: str, reason: str, programs: Path, plain: Path
) -> None:
    program = built(vendor, "windows", programs)
    outcome = tried(str(plain), vendor, 2, program, part, options="--placement 1x2")
    assert outcome.exit_code == 3
    (line,) = outcome.stderr.splitlines()
    assert reason in line
    assert "place one rank on each node, e.g. --placement 16x1" in line


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("vendor", "placement"),
    [
        # It takes every rank for one alone on its node.
        ("mpich", "1x2"),
        pytest.param("intel", "2x1", marks=pytest.mark.full),
        pytest.param("openmpi", "2x1", marks=pytest.mark.slow),
    ],
)
def test_memory_that_a_rank_alone_shares(
    vendor: str, placement: str, programs: Path, plain: Path
) -> None:
    program = built(vendor, "windows", programs)
    outcome = tried(str(plain), vendor, 2, program, "shared", options=f"--placement {placement}")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.split() == ["42", "42"]
