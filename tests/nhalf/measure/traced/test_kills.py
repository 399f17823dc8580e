# SPDX-License-Identifier: Apache-2.0
"""However suddenly a program is killed, nothing that it had sent is lost."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import polars as pl
import pytest

from tests.nhalf.measure.traced.programs import CASES, built, traced

KILLS = 50


@pytest.mark.full
@pytest.mark.skipif(not CASES, reason="no MPI library here")
def test_fifty_kills_at_random_moments(tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "endless.cpp", programs)
    moments = random.Random(18)
    for number in range(KILLS):
        said = tmp_path / f"said-{number}-"
        after = str(int(10 ** moments.uniform(0, 5.5)))
        command = [str(program), str(said), after]
        outcome, trace = traced(library, tmp_path / f"trace-{number}", 2, command)
        assert outcome.exit_code != 0
        assert not trace.trace.complete
        calls = trace.table("calls").collect()
        for rank in range(2):
            file = said.with_name(f"{said.name}{rank}")
            # A rank may be ended by its launcher before it has begun.
            sent = struct.unpack("<Q", file.read_bytes())[0] if file.exists() else 0
            own = calls.filter((pl.col("rank") == rank) & (pl.col("kind") == "sent"))
            counted = int(own["count"].sum())
            assert sent <= counted <= sent + 1, f"kill {number} after {after} µs"
