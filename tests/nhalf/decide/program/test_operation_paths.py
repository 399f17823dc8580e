"""Messages of operations, by the algorithms that MPICH's paper has."""

from __future__ import annotations

import pytest

from nhalf.decide.program.operation_paths import (
    Path,
    fewest_path,
    known_paths,
    most_path,
    usual_path,
)

K = 1024
CALLS = ("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatterv", "Allgather", "Alltoall",
         "Reduce_scatter", "Scan")  # fmt: skip


@pytest.mark.parametrize(
    ("call", "ranks", "size_bytes", "path"),
    [
        ("MPI_Barrier", 8, 0, Path(3, 0)),
        ("MPI_Bcast", 8, 1 * K, Path(3, 3 * K)),
        ("MPI_Bcast", 8, 64 * K, Path(6, 112 * K)),
        ("MPI_Bcast", 4, 64 * K, Path(2, 128 * K)),
        ("MPI_Allreduce", 4, 8, Path(2, 16)),
        ("MPI_Allreduce", 4, 64 * K, Path(4, 96 * K)),
        ("MPI_Gather", 5, 8, Path(3, 32)),
        ("MPI_Gatherv", 5, 8, Path(1, 32)),
        ("MPI_Allgather", 4, 256 * K, Path(3, 768 * K)),
        ("MPI_Alltoall", 4, 32, Path(2, 32)),
        ("MPI_Alltoall", 4, 16 * K, Path(1, 12 * K)),
        ("MPI_Alltoall", 4, 256 * K, Path(3, 192 * K)),
    ],
)
def test_messages_follow_the_algorithm_of_a_size(
    call: str, ranks: int, size_bytes: int, path: Path
) -> None:
    assert usual_path(call, ranks, size_bytes) == path


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("size_bytes", [0, 8, 1 << 20])
def test_the_usual_path_is_between_the_others(call: str, ranks: int, size_bytes: int) -> None:
    fewest, usual, most = (
        path(f"MPI_{call}", ranks, size_bytes) for path in (fewest_path, usual_path, most_path)
    )
    assert fewest.messages <= usual.messages <= most.messages
    assert fewest.bytes <= usual.bytes <= most.bytes


def test_one_rank_sends_nothing() -> None:
    for path in (fewest_path, usual_path, most_path):
        assert path("MPI_Alltoall", 1, 8) == Path(0, 0)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_the_usual_path_is_the_first_of_those_known(call: str, ranks: int) -> None:
    for size_bytes in (0, 8, 1 << 20):
        known = known_paths(f"MPI_{call}", ranks, size_bytes)
        assert known[0] == usual_path(f"MPI_{call}", ranks, size_bytes)
        fewest = fewest_path(f"MPI_{call}", ranks, size_bytes)
        assert all(fewest.messages <= path.messages for path in known)


def test_a_sum_may_go_through_trees_in_parts_or_around() -> None:
    assert known_paths("MPI_Allreduce", 4, 1000) == [
        Path(2, 2000),
        Path(4, 1500),
        Path(4, 4000),
        Path(6, 1500),
    ]
