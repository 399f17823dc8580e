"""Composed times are those of a real MPI library on the virtual network of the same machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.decide.predict import predict
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.models.expression import PART_BYTES
from tests.nhalf.measure.virtual.programs import library_of

Call = Callable[..., Any]
SIZES = [8, 1024, 1 << 16, 1 << 20]
OPERATIONS = ("bcast", "allreduce", "allgather", "alltoall", "reduce", "scatter", "barrier")
CLOSE = 0.002
FANS_CLOSE = 0.07
"""Fans of a library are apart from composed ones by up to 6.4 %; why is not known."""


@pytest.mark.parametrize(
    ("machine", "operation", "ranks"),
    [
        ("altix-bx2", "bcast", 8),
        *(
            pytest.param(machine, operation, ranks, marks=pytest.mark.full)
            for machine in ("altix-bx2", "myrinet-gm", "poweredge-ib")
            for operation in OPERATIONS
            for ranks in (2, 5, 8)
        ),
    ],
)
def test_algorithms_take_what_a_library_does(
    machine: str, operation: str, ranks: int, call: Call, tmp_path: Path
) -> None:
    sizes = [] if operation == "barrier" else SIZES
    words = ["--machine", machine, "--mpi", library_of("mpich").name, "--pattern", operation]
    words += ["--algorithm", "all", "--ranks", str(ranks), "--placement", f"{ranks}x1"]
    words += ["--bytes", ",".join(map(str, sizes))] if sizes else []
    ended = call("run", *words, "--launches", "1", "--out", tmp_path / "run", "--json")
    assert ended.code == 0, ended.err
    found = predict(
        operation,
        catalogue.machine(machine),
        [ranks],
        sizes or [0],
        algorithms(),
        part_bytes=PART_BYTES,
    )
    names = [way.algorithm for way in found.ways]
    compared = 0
    for point in json.loads(ended.out)["points"]:
        if point["algorithm"] not in names or point["algorithm"] == "native":
            continue
        place = names.index(point["algorithm"]), 0, (sizes or [0]).index(point["bytes"])
        assert found.time_s[place] == pytest.approx(point["median_s"], rel=CLOSE), point
        compared += 1
    assert compared >= 3


PATTERNS = ("exchange", "one-to-many", "many-to-one", "many-to-many", "pairs-latency", "ring")
ALL_TOGETHER = {"pairs-latency": "pairs=1", "ring": "ring=6"}
"""Axes with which two ranks have all pairs, and all ranks are in one ring."""


@pytest.mark.parametrize(
    ("machine", "pattern", "ranks"),
    [
        ("sp2-mpl", "exchange", 2),
        *(
            pytest.param(machine, pattern, ranks, marks=pytest.mark.full)
            for machine in ("altix-bx2", "myrinet-gm", "sp2-mpl")
            for pattern in PATTERNS
            for ranks in (2, 8)
        ),
    ],
)
def test_patterns_take_what_a_library_does(
    machine: str, pattern: str, ranks: int, call: Call, tmp_path: Path
) -> None:
    words = ["--machine", machine, "--mpi", library_of("mpich").name, "--pattern", pattern]
    words += ["--ranks", str(ranks), "--placement", f"{ranks}x1"]
    words += ["--bytes", ",".join(map(str, SIZES))]
    axis = ALL_TOGETHER.get(pattern, "").replace("pairs=1", f"pairs={ranks // 2}")
    words += ["--axis", axis] if axis else []
    words += ["--axis", "method=sendrecv"] if pattern == "ring" else []
    ended = call("run", *words, "--launches", "1", "--out", tmp_path / "run", "--json")
    assert ended.code == 0, ended.err
    found = predict(pattern, catalogue.machine(machine), [ranks], SIZES, algorithms())
    (followed,) = (k for k, way in enumerate(found.ways) if way.algorithm == "followed")
    points = json.loads(ended.out)["points"]
    assert len(points) == len(SIZES)
    for point in points:
        time_s = found.time_s[followed, 0, SIZES.index(point["bytes"])]
        assert time_s == pytest.approx(point["median_s"], rel=FANS_CLOSE), point
