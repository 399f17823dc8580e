"""All shares of a program are of one run, on quiet machines and where others have the processors.

Others are busy loops and more ranks than processors: what is asserted holds at any load.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from nhalf.present.program.answer import answer_lines, program_json
from nhalf.present.program.verdict import program_verdict
from tests.nhalf.measure.traced.programs import CASES, SOURCES, built, launch, nhalf, traced

pytestmark = [pytest.mark.skipif(not CASES, reason="no MPI library here"), pytest.mark.slow]
DISTURBED_SHARE = 0.05
NEAR_SHARE = 0.1
COMPUTING = "while True: pass"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, Path]:
    library, compiler = CASES[0]
    return library, built(library, compiler, "shares.cpp", tmp_path_factory.mktemp("made"), "-g")


def site(call: str) -> str:
    """The place of a call as the source says."""
    lines = (SOURCES / "shares.cpp").read_text().splitlines()
    return next(
        f"shares.cpp:{number}"
        for number, line in enumerate(lines, 1)
        if line.endswith("// site") and line.strip().startswith(f"{call}(")
    )


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Others compute meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", COMPUTING]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def shown(
    case: tuple[Library, Path], folder: Path, ranks: int, *words: str, detail: str = "counts"
) -> tuple[Program, dict[str, Any]]:
    library, program = case
    traced(library, folder, ranks, [str(program), *words], "--detail", detail)
    read = Program.open(folder)
    told = json.loads(json.dumps(program_json(read)))
    check_shares(told)
    return read, told


def check_shares(told: dict[str, Any]) -> None:
    """The shares of a table are at most one together, and of the run that `others` names."""
    assert told["elapsed_s"] == told["others"]["elapsed_s"]
    assert sum(row["share"] for row in told["call_sites"]) <= 1 + 1e-6
    assert all(0 <= row["time_share"] <= 1 + 1e-6 for row in told["time"])
    assert sum(row["share"] for row in told["most_expensive"]) <= 1 + 1e-6
    others = told["others"]
    most = max(row["share"] for row in others["ranks"])
    assert others["disturbed"] == (others["shares_of"] == "traced" and most >= DISTURBED_SHARE)
    assert not others["disturbed"] or told["efficiency"] is None


def check_first(program: Program, told: dict[str, Any]) -> str:
    """What others took is said first, and what it means for shares; returns the verdict."""
    lines, verdict = answer_lines(program), program_verdict(program)
    most = max(row["share"] for row in told["others"]["ranks"])
    is_first = "off its core for" in lines[0]
    assert is_first == (most >= 0.01)
    assert verdict.startswith(lines[0])
    if told["others"]["disturbed"]:
        assert "save" not in verdict
        assert not any(line.startswith("Parallel") for line in lines)
    return verdict


def test_many_sizes_of_a_place_are_one_row(case: tuple[Library, Path], tmp_path: Path) -> None:
    program, told = shown(case, tmp_path / "trace", 2, "sizes", "400")
    check_first(program, told)
    rows = [row for row in told["most_expensive"] if row["call"] == "MPI_Send"]
    assert [(row["place"], row["count"]) for row in rows] == [(site("MPI_Send"), 400)]
    assert (rows[0]["least_bytes"], rows[0]["most_bytes"]) == (100_000, 100_000 + 997 * 199)


def test_windows_made_in_a_loop_are_named(case: tuple[Library, Path], tmp_path: Path) -> None:
    program, told = shown(case, tmp_path / "trace", 2, "windows", "40")
    assert "indows are made and freed 40 times" in check_first(program, told)


def test_a_call_that_sends_and_receives_counts_once(
    case: tuple[Library, Path], tmp_path: Path
) -> None:
    _, told = shown(case, tmp_path / "trace", 2, "exchange", "300", detail="timeline")
    (row,) = [row for row in told["call_sites"] if row["call"] == "MPI_Sendrecv"]
    assert (row["place"], row["count"]) == (site("MPI_Sendrecv"), 600)
    assert [row["count"] for row in told["calls"] if row["call"] == "MPI_Sendrecv"] == [300] * 2


def test_more_ranks_than_processors_are_shown_as_if_each_had_one(
    case: tuple[Library, Path], tmp_path: Path
) -> None:
    """Rank 0 computes 20 ms of each round and the others 10: load balance is known."""
    ranks = 2 * len(os.sched_getaffinity(0))
    program, told = shown(case, tmp_path / "trace", ranks, "imbalance", "5", detail="timeline")
    verdict = check_first(program, told)
    assert told["others"]["shares_of"] == "undisturbed"
    assert told["others"]["measured_s"] > told["elapsed_s"]
    assert "With a processor for each rank the run would take" in verdict
    tree = told["efficiency"]
    assert tree["load_balance_share"] == pytest.approx((ranks + 1) / 2 / ranks, abs=NEAR_SHARE)
    in_mpi = sum(row["time_share"] for row in told["time"]) / ranks
    assert in_mpi + tree["parallel_share"] == pytest.approx(1.0, abs=NEAR_SHARE)


@pytest.mark.full
def test_where_others_compute_counts_tell_no_efficiency(
    case: tuple[Library, Path], tmp_path: Path
) -> None:
    with busy(2 * len(os.sched_getaffinity(0))):
        program, told = shown(case, tmp_path / "trace", 2, "imbalance", "20")
    assert told["others"]["disturbed"]
    assert "other processes" in check_first(program, told)


def test_threads_share_their_time(case: tuple[Library, Path], tmp_path: Path) -> None:
    program, told = shown(case, tmp_path / "trace", 2, "threads", "50", detail="timeline")
    check_first(program, told)
    assert sum(row["share"] for row in told["call_sites"]) <= 1 + 1e-6
    running = [record.threads_running for record in program.trace.ranks]
    assert running == [4, 4]
    processors = set().union(*(record.processors for record in program.trace.ranks))
    is_short = len(processors) < 8
    assert any("8 threads of 2 ranks" in line or "4 threads of 1 rank" in line
               for line in answer_lines(program)) == is_short  # fmt: skip


def test_a_program_that_fails_gets_no_advice(case: tuple[Library, Path], tmp_path: Path) -> None:
    library, program = case
    words = [*launch(library, 2), str(program), "fails"]
    outcome = nhalf(library, "--out", str(tmp_path / "trace"), "--", *words)
    assert outcome.exit_code == 3
    verdict = program_verdict(Program.open(tmp_path / "trace"))
    assert "The program failed (exit code 3)" in verdict
    assert "Main cause" not in verdict
