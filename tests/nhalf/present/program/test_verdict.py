"""The main cause comes first, by the calls that lead; and says nothing that others made."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.base.numbers import grouped
from nhalf.facts.program.calls import OTHER, POLLING, WINDOWS, family_of, leading_calls
from nhalf.facts.program.program import Program
from nhalf.present.program.answer import answer_json, answer_lines
from nhalf.present.program.verdict import program_verdict
from tests.nhalf.traced_programs import call, disturbed, off, program, timed


def of(
    ranks: int, *calls: tuple[str, int, float], kind: str = "collective", **more: Any
) -> Program:
    """Ranks that make calls so often, for so long in all."""
    rows = [
        {
            "rank": rank,
            "call": name,
            "kind": "collective",
            "partner": -2,
            "count": count,
            "time_s": time_s,
        }
        for rank in range(ranks)
        for name, count, time_s in calls
    ]
    return program(ranks, rows, **more)


RMA = (("MPI_Win_allocate", 300, 0.4), ("MPI_Win_free", 300, 0.3), ("MPI_Win_fence", 600, 0.25))


@pytest.mark.parametrize(
    ("calls", "cause"),
    [
        (RMA, "windows are made and freed 300 times: make them once and reuse them"),
        ((("MPI_Win_create", 1, 0.8), ("MPI_Waitall", 100, 0.1)),
         "MPI_Win_create is set-up, called once: it weighs less in a longer run"),
        ((("MPI_Comm_split", 40, 0.3), ("MPI_Comm_free", 40, 0.3), ("MPI_Bcast", 40, 0.35)),
         "communicators are made 40 times: make them once and reuse them"),
        ((("MPI_Cart_create", 2, 0.9),),
         "MPI_Cart_create is set-up, called twice: it weighs less in a longer run"),
        ((("MPI_Test", 1_000_000, 0.9), ("MPI_Irecv", 10, 0.0)),
         f"rank 0 polls {grouped(1_000_000)} times (MPI_Test): compute between polls, or wait "
         "(MPI_Wait, MPI_Probe)"),
        ((("MPI_File_write", 5, 0.9),), "MPI_File_write takes 100 % of the time in MPI: write "
         "larger blocks, collectively (MPI_File_write_all)"),
    ],
)  # fmt: skip
def test_the_calls_that_lead_have_their_advice(
    calls: tuple[tuple[str, int, float], ...], cause: str
) -> None:
    assert program_verdict(of(2, *calls)).startswith(f"Main cause: {cause}. ")


def test_families_are_told_by_names() -> None:
    assert family_of("MPI_Win_allocate_shared") == family_of("MPI_Win_free") == WINDOWS
    assert family_of("MPI_Iprobe") == POLLING
    assert family_of("MPI_Ireduce") == family_of("MPI_Barrier") == OTHER
    assert leading_calls(program(2)) is None
    leading = leading_calls(of(2, *RMA))
    assert leading is not None
    assert (leading.family, leading.call, leading.times) == (WINDOWS, "MPI_Win_allocate", 300)
    assert leading.share == pytest.approx(0.7 / 0.95)


def test_who_computes_longer_is_the_main_cause() -> None:
    barrier = [
        call(rank, "MPI_Barrier", "collective", -2, from_s, 10, size_bytes=0)
        for rank, from_s in enumerate((10.0, 5.0, 5.0))
    ]
    lines = answer_lines(timed(3, *barrier))
    assert lines[0].startswith(
        "Main cause: rank 0 computes 1.50x the average; rebalance the work. "
    )
    assert "an infinitely fast network would save at most 0 %" in lines[0]


def test_late_results_are_the_main_cause() -> None:
    made = timed(
        2, call(1, "MPI_Recv", "received", 0, 0, 5), call(0, "MPI_Send", "sent", 1, 5, 5),
        call(0, "MPI_Recv", "received", 1, 5, 10), call(1, "MPI_Send", "sent", 0, 10, 10),
    )  # fmt: skip
    assert program_verdict(made).startswith("Main cause: ranks wait for each other's results; ")


def taken(share: float, *calls: tuple[str, int, float]) -> Program:
    """Counts of a run of which others had so much of rank 1's time."""
    made = of(2, *calls)
    for record in made.trace.ranks:
        record.queued_s = record.in_calls_queued_s = 0.0
    made.trace.ranks[1].queued_s = share
    return made


def test_where_others_had_much_nothing_can_be_saved() -> None:
    lines = answer_lines(taken(0.33, ("MPI_Barrier", 5, 0.3)))
    assert lines[:2] == [
        "Rank 1 was off its core for 33 % of the run (other processes), the other ranks for 0 % or "
        "more.",
        "Times and shares are of the run as traced, which others made longer.",
    ]
    assert lines[2].startswith("Main cause: other processes have the ranks' processors; use idle ")
    text = " ".join(lines)
    assert "save" not in text and "fficien" not in text
    assert answer_json(taken(0.33, ("MPI_Barrier", 5, 0.3)))["efficiency"] is None


def test_what_is_made_in_a_loop_is_told_whoever_had_the_processors() -> None:
    verdict = program_verdict(taken(0.8, *RMA))
    assert "Besides, windows are made and freed 300 times: make them once" in verdict


def test_a_little_taken_is_told_and_changes_nothing() -> None:
    quiet, told = taken(0.0, ("MPI_Barrier", 5, 0.3)), taken(0.02, ("MPI_Barrier", 5, 0.3))
    assert "off its core" not in program_verdict(quiet)
    assert program_verdict(told).startswith("Rank 1 was off its core for 2 % of the run (other ")
    assert any(line.startswith("Parallel efficiency") for line in answer_lines(told))


def test_of_threads_nobody_knows_the_run_without_others() -> None:
    """Thread 1 of each rank is disturbed, and thread 0 sleeps until that ends."""
    rows = [
        call(rank, "MPI_Barrier", "collective", -2, from_s, 8, size_bytes=0, thread=thread)
        for rank in (0, 1)
        for thread, from_s in ((0, 7.9), (1, 1.0))
    ]
    made = disturbed(timed(2, *rows, ends_s=(8, 8)), off(0, 1, 8, 6, in_call=True, thread=1))
    lines = answer_lines(made)
    assert lines[0].startswith("Rank 0 was off its core for 75 % of the run")
    assert lines[1] == "Times and shares are of the run as traced, which others made longer."
    assert "timeline to see" not in " ".join(lines)
    shares = [row["share"] for row in answer_json(made)["most_expensive"]]
    assert sum(shares) == pytest.approx((0.1 + 7.0) / 16, abs=1e-6)


@pytest.mark.parametrize(
    ("exit_code", "elapsed_s", "count", "words"),
    [
        (3, 2.0, 500, "The program failed (exit code 3), 2 s after MPI_Init: "),
        (0, 0.003, 2, "The program ended at once, 3 ms after MPI_Init with 2 calls of MPI on a "),
        (0, 2.0, 2, ""),
        (0, 0.003, 50, ""),
        (None, 2.0, 500, ""),
    ],
)
def test_a_program_that_failed_gets_no_advice(
    exit_code: int | None, elapsed_s: float, count: int, words: str
) -> None:
    made = of(2, ("MPI_Barrier", count, elapsed_s / 2), elapsed_s=elapsed_s)
    ended = msgspec.structs.replace(made.trace, exit_code=exit_code)
    verdict = program_verdict(
        Program(made.path, ended, made.calls, made.bins, made.timeline, made.communicators)
    )
    assert verdict.startswith(words or "First: ")
    assert ("in MPI" in verdict.replace("of MPI", "")) == (not words)


def test_what_replays_do_not_follow_is_not_known_without_others() -> None:
    """Fences wait for the other rank's accesses, which a replay does not know."""
    rows = [call(rank, "MPI_Win_fence", "waiting", -2, 1 + rank, 8) for rank in (0, 1)]
    made = disturbed(timed(2, *rows, ends_s=(8, 8)), off(0, 1, 8, 6, in_call=True))
    assert answer_lines(made)[1].startswith("Times and shares are of the run as traced")
    assert answer_json(made)["efficiency"] is None
