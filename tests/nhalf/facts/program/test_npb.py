"""Traces of kernels of the NAS Parallel Benchmarks beside their closed forms.

Closed forms beside the rows of applications.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from nhalf.facts.program.npb import ClosedForm, beside_closed_form, traffic_rows
from nhalf.facts.program.program import Program
from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import ALLTOALL, SEND, traffic_of
from nhalf.present.findings import findings
from tests.nhalf.traced_programs import frame, program

COMMAND = ("nhalf", "app", "npb", "--kernel", "cg", "--class", "S", "--ranks", "4")
CONTROL = {"call": "MPI_Bcast", "kind": "collective", "partner": 0, "size_bytes": 64, "count": 9}
"""What controls the runs is on MPI_COMM_WORLD."""


def traced(kernel: str, runs: int = 1, command: tuple[str, ...] = COMMAND) -> Program:
    """A trace of class S on 4 ranks that has its closed form."""
    rows: list[dict[str, Any]] = [CONTROL]
    for rank in range(4):
        for (call, partner, size), times in traffic_of(problem(kernel, "S"), rank, 4).items():
            is_sent = call == SEND
            name = f"MPI_{call.capitalize()}"
            blocks = 4 if call == ALLTOALL else 1
            rows.append(
                {
                    "rank": rank,
                    "call": name,
                    "kind": "sent" if is_sent else "collective",
                    "communicator": 1,
                    "partner": partner if is_sent else -2,
                    "size_bytes": size * blocks,
                    "count": runs * times,
                }
            )
    made = program(4, rows)
    members = [{"communicator": 1, "rank": rank, "world_rank": rank} for rank in range(4)]
    words = [kernel if word == "cg" else word for word in command]
    return replace(
        made,
        trace=msgspec.structs.replace(made.trace, command=words),
        communicators=frame("communicators", members),
    )


@pytest.mark.parametrize(
    ("kernel", "messages"),
    [("cg", 6720), ("mg", 1776), ("bt", 2952), ("is", 3), ("ft", 0), ("ep", 0)],
)
@pytest.mark.parametrize("runs", [1, 12])
def test_whole_runs_are_the_closed_form(kernel: str, messages: int, runs: int) -> None:
    comparison = beside_closed_form(traced(kernel, runs))
    assert comparison is not None
    assert comparison.is_equal
    assert (comparison.kernel, comparison.runs) == (f"{kernel}.S", runs)
    assert comparison.messages == comparison.expected_messages == runs * messages
    assert comparison.bytes == comparison.expected_bytes


def test_one_message_too_few_is_seen() -> None:
    made = traced("cg")
    calls = made.calls.to_dicts()
    calls[1]["count"] -= 1
    comparison = beside_closed_form(replace(made, calls=frame("calls", calls)))
    assert comparison is not None
    assert (comparison.messages, comparison.expected_messages) == (6719, 6720)
    assert comparison.different == 1


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("mpiexec", "-n", "4", "./program"),
        ("nhalf", "app", "npb"),
        ("nhalf", "app", "npb", "--kernel", "cg,mg", "--class", "S"),
        ("nhalf", "app", "npb", "--kernel", "cg", "--class", "S,W"),
        ("nhalf", "app", "npb", "--kernel", "cg", "--class", "Q"),
        ("nhalf", "app", "sdes", "--kernel", "cast"),
        ("nhalf", "app", "npb", "--kernel", "xx"),
    ],
)
def test_other_programs_have_none(command: tuple[str, ...]) -> None:
    assert beside_closed_form(traced("cg", command=command)) is None


def test_the_command_may_have_options_in_one_word() -> None:
    command = ("python", "-m", "nhalf", "app", "npb", "--kernel=cg", "--class=s")
    comparison = beside_closed_form(traced("cg", command=command))
    assert isinstance(comparison, ClosedForm)
    assert comparison.is_equal


def test_it_stands_among_the_findings() -> None:
    (finding,) = [found for found in findings(traced("mg", 2)) if found.kind == "closed-form"]
    assert finding.text == (
        "mg.S on 4 ranks, 2 runs: 3552 messages of 4395 KiB in all and 704 calls of collective "
        "operations were traced, exactly those of the closed form."
    )
    made = traced("cg")
    calls = [row for row in made.calls.to_dicts() if row["rank"] != 3]
    short = replace(made, calls=frame("calls", calls))
    (finding,) = [found for found in findings(short) if found.kind == "closed-form"]
    assert "5040 messages" in finding.text
    assert "and 6720 messages" in finding.text
    assert finding.importance > 90


ROW = {"app": "npb", "program": "mpi", "class": "S", "ranks": 4}


def test_totals_are_those_of_all_ranks() -> None:
    (row,) = traffic_rows([{**ROW, "kernel": "is"}] * 2)
    assert row == {
        **{"kernel": "is", "class": "S", "ranks": 4, "messages": 3, "bytes": 12},
        **{"messages_min": 0, "messages_max": 1},
        "calls": [
            {"call": "allreduce", "size_bytes": 2068, "count": 44},
            {"call": "alltoall", "size_bytes": 4, "count": 44},
            {"call": "alltoallv", "size_bytes": 65536, "count": 44},
            {"call": "send", "size_bytes": 4, "count": 3},
        ],
    }
    (row,) = traffic_rows([{**ROW, "kernel": "cg"}])
    assert (row["messages"], row["messages_min"], row["messages_max"]) == (6720, 1680, 1680)


def test_what_sends_nothing_has_no_row() -> None:
    others = [
        {**ROW, "kernel": "cg", "program": "openmp"},
        {**ROW, "kernel": "cg", "ranks": 1},
        {**ROW, "kernel": "cast", "app": "sdes"},
        {**ROW, "kernel": "xx"},
        {**ROW, "kernel": "cg", "class": "Q"},
    ]
    assert traffic_rows(others) == []
