"""Ranks of one program are found together, whatever else the command starts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nhalf.measure.traced.layout import CommunicatorNote, ProcessFile
from nhalf.measure.traced.worlds import worlds

SECOND_NS = 1_000_000_000


def process(rank: int, size: int, program: str, at_s: float = 1.0, **more: Any) -> ProcessFile:
    """A rank that is within MPI_Init for a second; its file is named by the program."""
    began_ns = int(at_s * SECOND_NS)
    given = {
        **{"path": program, "version": 5, "rank": rank, "size": size, "host": "a", "pid": rank},
        **{"library": "MPICH", "calls": [], "began_ns": began_ns},
        "ready_ns": began_ns + SECOND_NS,
    }
    return ProcessFile(**{**given, **more})


def found(files: list[ProcessFile]) -> list[list[tuple[str, int]]]:
    random.Random(1).shuffle(files)
    return [[(file.path, file.rank) for file in world] for world in worlds(files)]


def program(name: str, size: int, **more: Any) -> list[ProcessFile]:
    return [process(rank, size, name, **more) for rank in range(size)]


def listed(name: str, ranks: int | list[int]) -> list[tuple[str, int]]:
    return [(name, rank) for rank in (range(ranks) if isinstance(ranks, int) else ranks)]


def test_no_file_is_no_program() -> None:
    assert worlds([]) == []


def test_launches_are_told_apart_by_name() -> None:
    """Two at the same time, of the same size."""
    files = program("one", 4, launch="hydra a:1 0") + program(
        "two", 4, launch="hydra a:2 0", at_s=1.1
    )
    assert found(files) == [listed("one", 4), listed("two", 4)]


@pytest.mark.parametrize("launch", ["", "SLURM 7.0", "PMIX_NAMESPACE 5"])
def test_one_after_the_other_are_told_apart_by_time(launch: str) -> None:
    """Two runs in one job step, or below a launcher that names nothing."""
    files = program("one", 3, launch=launch) + program("two", 3, launch=launch, at_s=9)
    assert found(files) == [listed("one", 3), listed("two", 3)]


@pytest.mark.parametrize("absent", range(3))
@pytest.mark.parametrize("launch", ["", "SLURM 7.0"])
def test_a_rank_that_is_absent_is_not_taken_from_the_next(launch: str, absent: int) -> None:
    first = [one for one in program("one", 3, launch=launch) if one.rank != absent]
    files = first + program("two", 3, launch=launch, at_s=9)
    left = [rank for rank in range(3) if rank != absent]
    assert found(files) == [listed("one", left), listed("two", 3)]


def test_a_spawned_world_has_ranks_of_its_own() -> None:
    for size in (2, 4):
        files = program("parents", 4, launch="hydra a:1 0") + program(
            "children", size, launch="hydra a:1 0 spawned", at_s=3
        )
        assert found(files) == [listed("parents", 4), listed("children", size)]


def test_programs_of_one_launch_are_one_world() -> None:
    """`mpiexec -n 1 ./a : -n 2 ./b`."""
    files = [process(rank, 3, "b" if rank else "a", launch="hydra a:1 0") for rank in range(3)]
    assert found(files) == [[("a", 0), ("b", 1), ("b", 2)]]


def test_sessions_may_begin_at_any_time() -> None:
    files = [process(rank, 3, "one", rank * 100.0, launch="hydra a:1 0") for rank in range(3)]
    assert found(files) == [listed("one", 3)]


def test_programs_on_one_rank_each_are_many() -> None:
    """`./one & ./two`, without a launcher."""
    files = program("one", 1) + program("two", 1, at_s=1.5)
    assert found(files) == [listed("one", 1), listed("two", 1)]


def test_parents_tell_programs_apart_that_run_at_a_time() -> None:
    files = program("one", 2, parent="10 1") + program("two", 2, parent="20 2", at_s=1.01)
    assert found(files) == [listed("one", 2), listed("two", 2)]


def test_daemons_of_other_names_on_other_hosts_are_of_one_launch() -> None:
    """Those of Intel MPI know the daemon above them."""
    files = [
        process(rank, 4, "one", host="ab"[rank // 2], launch=f"hydra up{rank // 2}:1 0")
        for rank in range(4)
    ]
    assert found(files) == [listed("one", 4)]


def test_launches_on_other_hosts_with_the_same_ranks_are_two() -> None:
    files = program("one", 2, launch="hydra a:1 0") + program(
        "two", 2, launch="hydra b:1 0", host="b", at_s=1.2
    )
    assert found(files) == [listed("one", 2), listed("two", 2)]


def test_files_of_older_versions_have_the_number_of_their_world() -> None:
    def older(rank: int, name: str, world: int, made_ns: int) -> ProcessFile:
        notes = [CommunicatorNote(0, made_ns, (0, 1))]
        times = {"began_ns": 0, "ready_ns": 0}
        return process(rank, 2, name, world=world, version=3, communicators=notes, **times)

    files = [older(rank, "late", 5, 20) for rank in range(2)]
    files += [older(rank, "early", 9, 10) for rank in range(2)]
    assert found(files) == [listed("early", 2), listed("late", 2)]
    without_notes = process(0, 2, "lost", world=7, began_ns=0, ready_ns=0)
    assert found([without_notes]) == [listed("lost", [0])]
