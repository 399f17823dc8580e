# SPDX-License-Identifier: Apache-2.0
"""How much slower messages may be, of timelines by hand."""

from __future__ import annotations

import pytest

from nhalf.decide.program.slower_costs import Slower
from nhalf.decide.program.tolerance import PARAMETERS, Slowdown, tolerances
from nhalf.facts.program.program import Program
from nhalf.present.program.answer import answer_lines
from tests.nhalf.traced_programs import call, program, timed


@pytest.fixture
def relay() -> Program:
    """Two messages of 8 bytes, one after the other, of 1 s each."""
    return timed(
        3,
        call(0, "MPI_Send", "sent", 1, 4, 4),
        call(1, "MPI_Recv", "received", 0, 0, 5),
        call(1, "MPI_Send", "sent", 2, 6, 6),
        call(2, "MPI_Recv", "received", 1, 1, 7),
        ends_s=(4, 6, 10),
    )


def test_each_message_of_the_path_counts(relay: Program) -> None:
    by_name = {tolerance.parameter: tolerance for tolerance in tolerances(relay)}
    assert list(by_name) == list(PARAMETERS)
    for name, number in (("latency_s", 2), ("overhead_s", 4), ("byte_s", 16)):
        assert by_name[name].messages == pytest.approx(number)
        assert by_name[name].added_s == pytest.approx(0.1 / number)
    line = "1 % is lost where latency grows by 50 ms, or the overhead at either end by 25 ms, or"
    assert any(shown.startswith(line) for shown in answer_lines(relay))


def test_a_curve_has_the_run_times(relay: Program) -> None:
    slowdown = Slowdown(relay)
    assert slowdown.time_s(Slower()) == pytest.approx(10)
    assert slowdown.curve_s("latency_s", [0.0, 0.5, 1.0]) == pytest.approx([10, 11, 12])


@pytest.mark.parametrize(
    ("name", "messages"), [("MPI_Allreduce", 2), ("MPI_Alltoall", 3), ("MPI_Barrier", 2)]
)
def test_an_operation_has_several_messages_one_after_the_other(name: str, messages: int) -> None:
    made = timed(4, *(call(rank, name, "collective", -2, 1, 2) for rank in range(4)))
    latency, *_ = tolerances(made)
    assert latency.messages == pytest.approx(messages)


def test_computing_tolerates_everything() -> None:
    made = timed(2, *(call(rank, "MPI_Comm_rank", "waiting", -2, 1, 1) for rank in range(2)))
    assert [tolerance.added_s for tolerance in tolerances(made)] == [None] * 3
    assert tolerances(program(2)) == ()
