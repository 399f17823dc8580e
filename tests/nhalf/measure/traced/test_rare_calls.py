"""What programs seldom do is counted, or a line says that it is not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    Message,
    built,
    collective,
    is_standard,
    messages,
    traced,
)

RANKS = 2
STANDARD = next((case for case in CASES if is_standard(case)), None)
pytestmark = pytest.mark.skipif(STANDARD is None, reason="no MPI library of the standard ABI here")


def program(programs: Path) -> Path:
    assert STANDARD is not None
    return built(*STANDARD, "worlds.cpp", programs)


def test_messages_in_parts_count_whole_each_time(tmp_path: Path, programs: Path) -> None:
    assert STANDARD is not None
    command = [str(program(programs)), "parts"]
    outcome, trace = traced(STANDARD[0], tmp_path / "trace", RANKS, command)
    assert outcome.exit_code == 0, outcome.stderr
    assert messages(trace) == {
        (rank, call, kind, 0, 1 - rank, 24): 3
        for rank in range(RANKS)
        for call, kind in (("MPI_Psend_init", "sent"), ("MPI_Precv_init", "received"))
    }


@pytest.mark.full
def test_views_of_files_are_no_harm(tmp_path: Path, programs: Path) -> None:
    assert STANDARD is not None
    command = [str(program(programs)), "file", str(tmp_path / "file")]
    outcome, trace = traced(STANDARD[0], tmp_path / "trace", RANKS, command)
    assert outcome.exit_code == 0, outcome.stderr
    assert messages(trace) == {collective(rank, "Barrier", 0): 1 for rank in range(RANKS)}


@pytest.mark.full
def test_a_spawned_world_is_another(tmp_path: Path, programs: Path) -> None:
    assert STANDARD is not None
    command = [str(program(programs)), "spawn"]
    outcome, trace = traced(STANDARD[0], tmp_path / "trace", RANKS, command)
    assert outcome.exit_code == 0, outcome.stderr
    assert "started 2 programs of MPI" in outcome.stdout
    ((rank, call, kind, _, partner, size_bytes), count) = next(iter(messages(trace).items()))
    assert (rank, call, kind, partner, size_bytes) == (0, "MPI_Send", "sent", -3, 9)
    assert count == 1


SESSION_ATTEMPTS = 6
"""MPICH 5.0.2 fails or hangs now and then at the second session, without a trace as well."""


def test_ranks_of_sessions_are_those_of_all_processes(tmp_path: Path, programs: Path) -> None:
    assert STANDARD is not None
    command = ["timeout", "30", str(program(programs)), "sessions"]
    for attempt in range(SESSION_ATTEMPTS):
        outcome, trace = traced(STANDARD[0], tmp_path / f"trace-{attempt}", RANKS, command)
        if outcome.exit_code == 0:
            break
    assert outcome.exit_code == 0, outcome.stderr
    expected: Counter[Message] = Counter()
    for rank in range(RANKS):
        right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
        # A second session has a communicator of the same ranks.
        for made in (1, 2):
            expected[rank, "MPI_Sendrecv_replace", "sent", made, right, 11] += 1
            expected[rank, "MPI_Sendrecv_replace", "received", made, left, 11] += 1
            expected[collective(rank, "Barrier", 0, on=made)] += 1
    assert messages(trace) == expected
    names = trace.table("communicators").collect().filter(rank=0)["name"].to_list()
    assert names == ["mpi://WORLD", "", ""]
    assert trace.trace.complete


def test_a_forked_child_is_not_counted(tmp_path: Path, programs: Path) -> None:
    """Both programs of the command are of one world, and more ranks than some machines' cores."""
    assert STANDARD is not None
    library, made = STANDARD[0], str(program(programs))
    both = [made, "fork", ":", "-n", "1", made, "fork"]
    outcome, trace = traced(library, tmp_path / "trace", RANKS, both)
    assert outcome.exit_code == 0, outcome.stderr
    ranks = range(RANKS + 1)
    assert messages(trace) == {(rank, "MPI_Send", "sent", 0, -1, 0): 3 for rank in ranks}
    assert trace.trace.complete


@pytest.mark.full
def test_a_second_library_is_named(tmp_path: Path, programs: Path) -> None:
    assert STANDARD is not None
    others = (one.prefix / "lib/libmpi.so.40" for one in FOUND)
    other = next((path for path in others if path.is_file()), None)
    if other is None:
        pytest.skip("there is no second MPI library here")
    command = [str(program(programs)), "two", str(other)]
    _, trace = traced(STANDARD[0], tmp_path / "trace", RANKS, command)
    line = "the program has loaded several MPI libraries: calls of libmpi.so.40 are not counted"
    assert trace.trace.notes == [line]
    assert sum(messages(trace).values()) == 3 * RANKS
