"""Traces of programs in virtual time, and collectives of nhalf's within it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest

from nhalf.base.processes import ProgramOutcome
from nhalf.decide.program.predict import predict_program
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.traced.layout import REGION, TracedMachine
from nhalf.measure.traced.tables import DESCRIPTION, TABLES
from nhalf.mpi.discover import libraries
from nhalf.mpi.preload import preload
from tests.nhalf.measure.virtual.programs import (
    TIMEOUT_S,
    built,
    every_library,
    in_turn,
    library_of,
    tried,
)
from tests.patience import patience_s

PS = 1e-12
ROUNDS = 3


def traced(machine: str, vendor: str, ranks: int, out: Path, program: Path, *words: str) -> Program:
    """The trace of a program in virtual time."""
    command = [sys.executable, "-m", "nhalf"]
    command += ["trace", "--detail", "timeline", "--out", str(out), "--", *command]
    command += ["try", "--machine", machine, "--ranks", str(ranks), "--mpi"]
    command += [library_of(vendor).name, "--", str(program), *words]
    # Libraries of the virtual network and of the tracer may have to be compiled first.
    limit_s = patience_s(4 * TIMEOUT_S)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    assert ended.returncode == 0, ended.stderr
    return Program.open(out)


@pytest.fixture(scope="module")
def pipeline(programs: Path, plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A trace in which each rank computes 1 ms after a message from the one before."""
    program = built("mpich", "planted", programs)
    return traced(str(plain), "mpich", 4, tmp_path_factory.mktemp("pipeline"), program, "pipeline")


@pytest.mark.full
@in_turn("openmpi")
def test_a_trace_has_the_machines_times_and_repeats_itself(
    vendor: str, programs: Path, plain: Path, tmp_path: Path
) -> None:
    program = built(vendor, "planted", programs)
    made = [traced(str(plain), vendor, 4, tmp_path / name, program, "ring") for name in "ab"]
    for table in TABLES:
        first, second = (getattr(one, table) for one in made)
        assert first.equals(second), table
    assert made[0].trace.virtual == TracedMachine("plain", (0, 0, 1, 1))
    assert made[0].hosts == ("node0", "node0", "node1", "node1")
    counts = made[0].calls.group_by("call").agg(pl.col("count", "bytes").sum())
    assert {row[0]: row[1:] for row in counts.iter_rows()} == {
        "MPI_Isend": (4 * ROUNDS, 4 * ROUNDS * 1000),
        "MPI_Recv": (4 * ROUNDS, 4 * ROUNDS * 1000),
        "MPI_Wait": (4 * ROUNDS, 0),
        "MPI_Allreduce": (4 * ROUNDS, 4 * ROUNDS * 1000),
    }


def test_a_traced_program_takes_the_time_that_it_takes_untraced(
    pipeline: Program, programs: Path, plain: Path
) -> None:
    program = built("mpich", "planted", programs)
    answer = tried(str(plain), "mpich", 4, program, "pipeline", options="--json")
    virtual_s = msgspec.json.decode(answer.stdout)["virtual_s"]
    assert max(rank.end_s for rank in pipeline.trace.ranks) == pytest.approx(virtual_s, abs=PS)


def test_each_time_is_exact(pipeline: Program) -> None:
    rows = pipeline.timeline
    for rank in range(3):
        (send_s,) = rows.filter((pl.col("rank") == rank) & (pl.col("kind") == "sent"))["start_s"]
        is_next = (pl.col("rank") == rank + 1) & (pl.col("kind") == "received")
        (arrived_s,) = rows.filter(is_next)["end_s"]
        # From rank 1 to rank 2 the message goes to another node.
        way_s = 9e-6 + 8e-9 if rank == 1 else 2e-6 + 8 / 5e9
        assert arrived_s - send_s == pytest.approx(way_s, abs=2 * PS)
        if rank > 0:
            is_own = (pl.col("rank") == rank) & (pl.col("kind") == "received")
            assert send_s - rows.filter(is_own)["end_s"].item() == pytest.approx(1e-3, abs=PS)


def test_a_receive_that_takes_no_time_has_no_shortest(
    programs: Path, plain: Path, tmp_path: Path
) -> None:
    """It begins at once, and ends in its wait."""
    program = built("mpich", "planted", programs)
    calls = traced(str(plain), "mpich", 2, tmp_path / "overlap", program, "overlap").calls
    assert calls.filter(pl.col("call") == "MPI_Irecv")["min_s"].to_list() == [0.0]
    assert (calls["min_s"] <= calls["max_s"]).all()


def test_a_replay_explains_what_was_traced(pipeline: Program, plain: Path) -> None:
    machine = Messages(catalogue.machine(str(plain)))
    prediction = predict_program(pipeline, Target(machine), machine)
    assert prediction.measured_s == pytest.approx(pipeline.elapsed_s)
    assert prediction.error == pytest.approx(0.0, abs=1e-6)
    assert prediction.time_s == pytest.approx(pipeline.elapsed_s, rel=1e-6)


@pytest.mark.parametrize("command", [["nhalf"], [sys.executable, "-m", "nhalf"]])
def test_a_trace_of_each_rank_is_refused(command: list[str], programs: Path) -> None:
    words = [*command[1:], "trace", "--", str(built("mpich", "planted", programs))]
    outcome = tried("altix-bx2", "mpich", 2, Path(command[0]), *words)
    _is_refused(outcome)


def test_a_trace_within_a_virtual_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REGION, "/proc/1/fd/1")
    command = [sys.executable, "-m", "nhalf", "trace", "--", "true"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    _is_refused(ProgramOutcome(ended.returncode, ended.stdout, ended.stderr))


def _is_refused(outcome: ProgramOutcome) -> None:
    assert outcome.exit_code == 2
    assert outcome.stderr == (
        "nhalf: error: nhalf trace goes before nhalf try; write: nhalf trace -- nhalf try "
        "--machine M --ranks N -- ./program\n"
    )


@pytest.mark.sampled(2)
@every_library
def test_collectives_of_nhalf_run_over_the_virtual_wires(
    vendor: str, programs: Path, plain: Path, tmp_path: Path
) -> None:
    program = built(vendor, "planted", programs)
    table = tmp_path / "chosen.table"
    table.write_text("# nhalf decision table 2\nallreduce 2 inf 1 inf recursive-doubling\n")
    loaded = preload(library_of(vendor), program, table, libraries())
    words = [*loaded.words, "NHALF_COLL_VERBOSE=1", str(program), "operations"]
    outcome = tried(str(plain), vendor, 4, Path("env"), *words)
    assert outcome.exit_code == 0, outcome.stderr
    assert "recursive-doubling" in outcome.stderr
    # Two rounds: within the node, then between nodes.
    within_s, between_s = 2e-6 + 1000 / 5e9, 9e-6 + 1000 / 1e9
    times_s = [float(line) for line in outcome.stdout.split()]
    assert len(times_s) == 4
    for time_s in times_s:
        assert time_s == pytest.approx(within_s + between_s, rel=0.01)


def test_collectives_of_nhalf_share_no_memory_there(programs: Path, plain: Path) -> None:
    program = built("mpich", "planted", programs)
    loaded = preload(library_of("mpich"), program, None, libraries())
    words = [*loaded.words, str(program), "ring"]
    plainly = tried(str(plain), "mpich", 4, program, "ring", options="--json")
    routed = tried(str(plain), "mpich", 4, Path("env"), *words, options="--json")
    assert routed.exit_code == 0, routed.stderr
    times_s = [msgspec.json.decode(outcome.stdout)["virtual_s"] for outcome in (plainly, routed)]
    # They ask each other once for what they have in common.
    assert times_s[0] < times_s[1] < times_s[0] + 1e-4


def test_a_trace_says_which_machine_it_is_of(pipeline: Program) -> None:
    description = msgspec.json.decode((pipeline.path / DESCRIPTION).read_bytes())
    assert description["virtual"]["machine"] == "plain"
    command = [sys.executable, "-m", "nhalf", "show", str(pipeline.path)]
    shown = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    assert "4 ranks in virtual time on plain, MPICH" in shown.stdout
