"""Which calls of a program may leave the library's own way, and what that may save."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.experiment.improve.candidates import collectives
from nhalf.experiment.improve.candidates.collectives import (
    LIBRARY_CALLS,
    LIBRARY_CALLS_LATER,
    MOST_BYTES,
    NAME,
    OwnCollectives,
    learning_calls,
)
from nhalf.experiment.improve.change import Candidate
from nhalf.experiment.improve.situation import Situation
from nhalf.facts.program.program import Program
from nhalf.mpi.launch_settings import parse_launch
from nhalf.mpi.preload import Preload
from tests.nhalf.experiment.improve.listed_tuner import library
from tests.nhalf.traced_programs import program

KIB, MIB = 1 << 10, 1 << 20


def calling(*rows: tuple[str, int, int], ranks: int = 2, **more: Any) -> Program:
    """Ranks that make this many calls of a size, and take 0.4 s of one for those in each row."""
    calls: list[Mapping[str, Any]] = [
        {"rank": rank, "call": name, "kind": "collective", "partner": -2, "time_s": 0.4}
        | {"size_bytes": size_bytes, "count": count, **more}
        for rank in range(ranks)
        for name, size_bytes, count in rows
    ]
    return program(ranks, calls)


def classes(traced: Program, **how: bool) -> list[tuple[str, float, float, int]]:
    return [
        (calls.operations[0], calls.from_bytes, calls.to_bytes, calls.ranks)
        for calls in learning_calls(traced, **how)
    ]


def tried(traced: Program | None, **environment: str) -> Candidate:
    launch = parse_launch(["mpiexec", "-n", "2", "./p"], environment, "hydra")
    mpich = library("mpich")
    (candidate,) = OwnCollectives().candidates(Situation(launch, mpich, [mpich], traced, cores=4))
    return candidate


@pytest.fixture(autouse=True)
def _loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Preload(Path("own.so"), {collectives.PRELOAD: "own.so"})
    monkeypatch.setattr(collectives, "_loaded", lambda situation: loaded)


def test_nothing_leaves_nothing_to_learn() -> None:
    assert classes(program(2)) == []
    assert classes(calling(("MPI_Allreduce", 64, 1000), ranks=1)) == []
    assert classes(calling(("MPI_Bcast", 0, 1000))) == []
    assert tried(program(2)).upper_share == 0.0
    assert tried(None).upper_share == 1.0


@pytest.mark.parametrize("size_bytes", [1, 64 * KIB, MIB, MOST_BYTES, MOST_BYTES + 1])
def test_calls_are_worth_a_launch_up_to_the_largest_class(size_bytes: int) -> None:
    candidate = tried(calling(("MPI_Allreduce", size_bytes, 1000)))
    is_served = size_bytes <= MOST_BYTES
    assert candidate.upper_share == pytest.approx(0.4 if is_served else 0.0)
    assert candidate.change.variables == ({"LD_PRELOAD": "own.so"} if is_served else {})


def test_the_largest_class_is_that_of_the_library_that_learns() -> None:
    source = Path(__file__).parents[5] / "native/interposer/lessons.hpp"
    assert f"size_classes = {MOST_BYTES.bit_length() + 1};" in source.read_text("utf-8")


def test_sizes_are_those_of_one_block() -> None:
    for name in ("MPI_Alltoall", "MPI_Reduce_scatter_block"):
        whole_bytes = 4 * MOST_BYTES
        operation = name.removeprefix("MPI_").lower()
        served = [(operation, whole_bytes, whole_bytes, 4)]
        assert classes(calling((name, whole_bytes, 1000), ranks=4)) == served
        assert classes(calling((name, whole_bytes + 4, 1000), ranks=4)) == []
    assert classes(calling(("MPI_Allgather", MOST_BYTES, 1000), ranks=4)) != []


def test_what_is_called_too_rarely_stays_the_librarys_own() -> None:
    assert classes(calling(("MPI_Bcast", 64, 128))) == []
    assert classes(calling(("MPI_Bcast", 64, 129))) == [("bcast", 64, 64, 2)]
    # Sizes of one class learn together; a class that is rare learns beside one that is not.
    together = calling(("MPI_Bcast", 64, 100), ("MPI_Bcast", 65, 100), ("MPI_Gather", 64, 13))
    assert classes(together) == [("bcast", 64, 65, 2), ("gather", 64, 64, 2)]
    assert classes(calling(("MPI_Bcast", 64, 1000), ("MPI_Gather", 64, 12))) == [
        ("bcast", 64, 64, 2)
    ]


def test_lessons_of_an_earlier_run_let_rare_calls_learn() -> None:
    rare = calling(("MPI_Bcast", 64, 13))
    assert classes(rare) == []
    assert classes(rare, has_lessons=True) == [("bcast", 64, 64, 2)]
    assert tried(rare).upper_share == 0.0
    assert tried(rare, NHALF_COLL_KEEP="/lessons").upper_share == pytest.approx(0.4)


def test_an_earlier_run_says_what_may_be_saved_and_nobody_else(tmp_path: Path) -> None:
    traced = calling(("MPI_Bcast", 64, 1000), ("MPI_Alltoall", 4096, 1000))
    traced.trace.library = "MPICH Version:      5.0.2\nMPICH Release date: today"
    file = tmp_path / "lessons"
    library_word = "MPICH-Version:------5.0.2-15426824362413702264"

    def expected(*lines: str) -> tuple[float, bool]:
        rows = [f"{library_word} {line}" for line in lines]
        file.write_text("\n".join(["# nhalf lessons 1", "# library ranks", *rows]) + "\n")
        candidate = tried(traced, NHALF_COLL_KEEP=str(file))
        # Of one second every rank is 0.8 s in these calls, half of it in each of both.
        assert candidate.upper_share == pytest.approx(0.8)
        return candidate.expected_share, "earlier run" in candidate.text

    unknown = (pytest.approx(collectives.LEARNED_PROMISE_SHARE * 0.8), False)
    assert expected() == unknown
    assert expected("2 bcast 128 shared-memory 50", "3 bcast 64 shared-memory 50") == unknown
    assert expected("2 bcast 64 shared-memory") == unknown
    assert expected("2 bcast 64 shared-memory 75") == (pytest.approx(0.4 * 0.25), True)
    assert expected("2 bcast 64 native 140") == (0.0, True)
    # A block of the alltoall has 2048 bytes.
    both = expected("2 bcast 64 native 140", "2 alltoall 2048 single-copy 90")
    assert both == (pytest.approx(0.4 * 0.1), True)
    file.unlink()
    without = tried(traced, NHALF_COLL_KEEP=str(file))
    assert without.expected_share == pytest.approx(collectives.LEARNED_PROMISE_SHARE * 0.8)


def test_reductions_may_follow_the_table_from_the_first_call_on() -> None:
    assert classes(calling(("MPI_Allreduce", 8192, 1))) == [("allreduce", 8192, 8192, 2)]
    assert classes(calling(("MPI_Reduce", 8193, 1))) == []


def test_a_table_may_name_any_call() -> None:
    rare = calling(("MPI_Bcast", 64 * MIB, 1))
    assert tried(rare).upper_share == 0.0
    assert tried(rare, NHALF_COLL_TABLE="/best.table").upper_share == pytest.approx(0.4)


def test_calls_that_begin_an_operation_never_count() -> None:
    assert classes(calling(("MPI_Iallreduce", 64, 1000), ("MPI_Bcast_init", 64, 1000))) == []
    assert classes(calling(("MPI_Allreduce, in place", 64, 1000))) == [("allreduce", 64, 64, 2)]


def test_each_communicator_learns_for_itself() -> None:
    calls = [
        {"rank": rank, "call": "MPI_Bcast", "kind": "collective", "partner": -2, "time_s": 0.1}
        | {"size_bytes": 64, "count": 100, "communicator": communicator}
        for rank in range(2)
        for communicator in range(2)
    ]
    traced = program(2, calls)
    members = traced.communicators
    twice = members.vstack(members.with_columns(communicator=members["communicator"] + 1))
    assert classes(replace(traced, communicators=twice)) == []


def test_the_name_is_that_of_the_page() -> None:
    page = Path(__file__).parents[5] / "docs/improve.md"
    assert NAME in page.read_text("utf-8")


def test_the_first_calls_are_those_that_the_learner_leaves_to_the_library() -> None:
    learner = Path(__file__).parents[5] / "native/interposer/learning.hpp"
    calls = {
        name: int(number)
        for name, number in re.findall(r" (\w*calls\w*) = (\d+);", learner.read_text("utf-8"))
    }
    # The call after them has begun when the learner decides.
    assert calls["calls_before_memory"] + calls["own_calls"] + 1 == LIBRARY_CALLS
    assert calls["calls_before_later"] + calls["own_calls"] + 1 == LIBRARY_CALLS_LATER
