# SPDX-License-Identifier: Apache-2.0
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
