"""Calls of every kind are counted as programs make them, on every library of this machine."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from nhalf.measure.traced.tables import TraceFolder
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    Message,
    built,
    collective,
    every_program,
    launch,
    messages,
    nhalf,
    traced,
)

RANKS = 4
Members = tuple[int, ...]
pytestmark = pytest.mark.skipif(not FOUND, reason="no MPI library here")


def by_members(trace: TraceFolder) -> Counter[tuple[int, str, str, Members, int, int]]:
    """Messages with the members of their communicator instead of its number."""
    members: dict[int, list[int]] = {}
    for number, _, _, world in trace.table("communicators").collect().iter_rows():
        members.setdefault(number, []).append(world)
    found: Counter[tuple[int, str, str, Members, int, int]] = Counter()
    for (rank, call, kind, on, partner, size), count in messages(trace).items():
        found[rank, call, kind, tuple(members[on]), partner, size] += count
    return found


def said(rank: int, size: int) -> Counter[tuple[int, str, str, Members, int, int]]:
    """What a rank says in messages.cpp."""
    everybody, other = tuple(range(size)), rank ^ 1
    own = tuple(range(rank % 2, size, 2))
    groups = sorted([own, tuple(range(1 - rank % 2, size, 2))])
    both = (*groups[0], *groups[1])
    sent = {
        "Send": [1], "Bsend": [2], "Ssend": [3], "Rsend": [4], "Ibsend": [6], "Issend": [7],
        "Irsend": [8], "Isend": [5, 13, 14, 20, 21, 22], "Send_init": [11] * 5,
        "Sendrecv": [64], "Sendrecv_replace": [15],
    }  # fmt: skip
    received = {
        "Recv": [1, 2, 3, 5, 6, 7], "Irecv": [4, 8, 20, 21, 22], "Recv_init": [11] * 5,
        "Mrecv": [13], "Imrecv": [14], "Sendrecv": [64], "Sendrecv_replace": [15],
    }  # fmt: skip
    found: Counter[tuple[int, str, str, Members, int, int]] = Counter()
    for kind, calls in (("sent", sent), ("received", received)):
        for call, sizes in calls.items():
            for one in sizes:
                found[rank, f"MPI_{call}", kind, everybody, other, one] += 1
        found[rank, "MPI_Sendrecv", kind, both, other, 19] += 1
    found[rank, "MPI_Barrier", "collective", everybody, -2, 0] += 2
    found[rank, "MPI_Comm_split", "collective", everybody, -2, 0] += 1
    found[rank, "MPI_Intercomm_create", "collective", own, -2, 0] += 1
    return found


@every_program
def test_messages_of_every_kind(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "messages.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", RANKS, [str(program)])
    assert outcome.exit_code == 0, outcome.stderr
    expected = sum((said(rank, RANKS) for rank in range(RANKS)), Counter())
    assert by_members(trace) == expected


def operations(rank: int, size: int, *, later: bool) -> Counter[Message]:
    """What a rank does in operations.cpp; rank r has r + 1 items where counts vary."""
    items, own, right = size * (size + 1) // 2, 4 * (rank + 1), (rank + 1) % size
    rows = [
        ("Bcast", 4, 0), ("Reduce", 8, size - 1), ("Allreduce", 12), ("Scan", 16), ("Exscan", 20),
        ("Reduce_scatter", 4 * items), ("Reduce_scatter_block", 24 * size), ("Gather", 28, 1),
        ("Gatherv", own, 0), ("Scatter", 32 * size if rank == 1 else 32, 1),
        ("Scatterv", 4 * items if rank == 0 else own, 0), ("Allgather", 36), ("Allgatherv", own),
        ("Alltoall", 40 * size), ("Alltoallv", 44 * size), ("Alltoallw", 11 * size),
        ("Ibarrier", 0), ("Ibcast", 48, size - 1), ("Ireduce", 52, 0), ("Ialltoall", 56 * size),
        ("Cart_create", 0), ("Neighbor_allgather", 60, -2, 1), ("Neighbor_alltoall", 128, -2, 1),
        ("Win_create", 0), ("Win_free", 0),
    ]  # fmt: skip
    found = Counter(collective(rank, *row) for row in rows)  # type: ignore[arg-type]
    for call, size_bytes in (("Put", 68), ("Get", 72), ("Accumulate", 76)):
        found[rank, f"MPI_{call}", "one-sided", 0, right, size_bytes] += 1
    if later:
        found[collective(rank, "Allreduce_init", 80)] += 3
        found[collective(rank, "Bcast", 84, 0)] += 1
        found[rank, "MPI_Sendrecv", "sent", 0, right, 88] += 1
        found[rank, "MPI_Sendrecv", "received", 0, (rank - 1) % size, 88] += 1
        found[rank, "MPI_Isendrecv", "sent", 0, right, 92] += 1
        # Of the other half MPICH 5.0 has wrong statuses: sizes of messages between its own rounds.
        found[collective(rank, "Barrier_init", 0)] += 1
    return found


@every_program
def test_operations_of_every_kind(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "operations.cpp", programs)
    later = library.vendor == "mpich" and library.version >= "5"
    command = [str(program), *(["later"] if later else [])]
    outcome, trace = traced(library, tmp_path / "trace", RANKS, command)
    assert outcome.exit_code == 0, outcome.stderr
    expected = sum((operations(rank, RANKS, later=later) for rank in range(RANKS)), Counter())
    found = messages(trace)
    exchanged = [one for one in found if one[1:3] == ("MPI_Isendrecv", "received")]
    assert sum(found.pop(one) for one in exchanged) == (RANKS if later else 0)
    assert found == expected


@every_program
def test_threads_that_talk_at_once(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, "threads.cpp", programs)
    outcome, trace = traced(library, tmp_path / "trace", 2, [str(program)])
    if outcome.exit_code == 42:
        pytest.skip(f"{library.name} lets one thread only call it")
    assert outcome.exit_code == 0, outcome.stderr
    expected: Counter[Message] = Counter()
    for rank in range(2):
        expected[collective(rank, "Comm_dup", 0)] = 3
        for number in (1, 2, 3):
            expected[rank, "MPI_Send", "sent", number, 1 - rank, number] = 500
            expected[rank, "MPI_Irecv", "received", number, 1 - rank, number] = 500
    assert messages(trace) == expected


def fortran(size: int) -> Counter[Message]:
    """What ring.f90 says."""
    found: Counter[Message] = Counter()
    for rank in range(size):
        right, left = (rank + 1) % size, (rank - 1) % size
        found[collective(rank, "Comm_split", 0)] += 1
        for call, kind, on, partner, size_bytes in (
            ("Isend", "sent", 1, right, 12),
            ("Irecv", "received", 1, left, 12),
            ("Sendrecv", "sent", 0, right, 20),
            ("Sendrecv", "received", 0, left, 20),
            ("Send", "sent", 0, right, 0),
            ("Irecv", "received", 0, left, 0),
        ):
            found[rank, f"MPI_{call}", kind, on, partner, size_bytes] += 1
        found[collective(rank, "Bcast", 400, 1)] += 3
        found[collective(rank, "Allreduce", 40)] += 1
        found[collective(rank, "Barrier", 0)] += 1
    found[0, "MPI_Send", "sent", 0, size - 1, 28] += 1
    found[size - 1, "MPI_Recv", "received", 0, 0, 28] += 1
    return found


def fortran_compilers() -> list[tuple[Library, str]]:
    """Libraries whose wrapper for Fortran is beside their mpiexec."""
    found = []
    for library in libraries():
        if library.mpiexec is None:
            continue
        suffix = library.mpiexec.name.removeprefix("mpiexec")
        wrapper = library.mpiexec.with_name(f"mpifort{suffix}")
        if shutil.which(str(wrapper)) and shutil.which("gfortran"):
            found.append((library, str(wrapper)))
    return found


@pytest.mark.full
@pytest.mark.parametrize("way", ["OLD", "MODULE", "F08"])
def test_fortran_is_counted_once(way: str, tmp_path: Path, programs: Path) -> None:
    found = fortran_compilers()
    if not found:
        pytest.skip("no MPI library here has a compiler for Fortran")
    library, wrapper = found[0]
    program = built(library, Path(wrapper), "ring.f90", programs, "-cpp", f"-D{way}")
    outcome, trace = traced(library, tmp_path / "trace", 3, [str(program)])
    assert outcome.exit_code == 0, outcome.stderr
    assert messages(trace) == fortran(3)


@pytest.mark.full
@pytest.mark.parametrize("launcher", ["openmpi", "hydra"])
def test_lists_of_wrong_lengths_from_fortran_are_errors_of_the_library(
    launcher: str, tmp_path: Path, programs: Path
) -> None:
    found = [case for case in fortran_compilers() if case[0].launcher == launcher]
    if not found:
        pytest.skip(f"no library started by {launcher} has a compiler for Fortran here")
    library, wrapper = found[0]
    program = built(library, Path(wrapper), "counts.f90", programs)
    outcome, trace = traced(library, tmp_path / "trace", 1, [str(program)])
    assert outcome.exit_code == 0, outcome.stderr
    assert "all lists given" in outcome.stdout
    assert "took it" not in outcome.stdout
    assert "were written" not in outcome.stdout
    assert not messages(trace)


def test_nothing_is_written_where_there_is_no_room(tmp_path: Path, programs: Path) -> None:
    """A device that is always full stands for a disk that is."""
    if os.getuid() != 0 or not shutil.which("mount"):
        pytest.skip("only the superuser can make a small disk")
    library, compiler = CASES[0]
    program = built(library, compiler, "ring.cpp", programs)
    small = tmp_path / "small"
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=60k none {small}") != 0:
        pytest.skip("no file system can be mounted here")
    try:
        words = [*launch(library, 2), str(program), "7"]
        outcome = nhalf(library, "--out", str(small / "trace"), "--", *words)
        assert outcome.exit_code == 7
        assert "is not traced" in outcome.stderr
        assert "No space left" in outcome.stderr
        assert "could write what it counted" in outcome.stderr
    finally:
        os.system(f"umount {small}")
