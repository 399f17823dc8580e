"""How much slower messages may be, of timelines by hand."""

from __future__ import annotations

from statistics import fmean

import pytest

from nhalf.decide.program import tolerance_curves
from nhalf.decide.program.slowdown import NOISE_SEEDS, PARAMETERS, Slowdown
from nhalf.decide.program.tolerance_curves import curves, network_curves, tolerances
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
        assert by_name[name].slope == pytest.approx(number)
        assert by_name[name].added == pytest.approx(0.1 / number, rel=1e-5)
    line = "Slack before the run is 1 % slower: latency +50 ms, overhead at either end +25 ms, "
    assert any(shown.startswith(line) for shown in answer_lines(relay))


def test_a_long_timeline_is_replayed_only_for_who_asks(
    relay: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tolerance_curves, "CALLS_MAX", len(relay.timeline) - 1)
    assert tolerances(relay) == ()
    assert network_curves(relay) == []
    assert [line for line in answer_lines(relay) if "nhalf show TRACE --tolerance" in line]
    assert len(curves([relay])) == len(PARAMETERS)


def test_a_curve_has_the_run_times(relay: Program) -> None:
    slowdown = Slowdown(relay)
    times_s = [slowdown.at("latency_s", added) for added in (0.0, 0.5, 1.0)]
    assert times_s == pytest.approx([10, 11, 12])


def test_the_computing_of_the_slow_rank_counts(relay: Program) -> None:
    """Rank 2 computes for 3 s after its message, rank 0 for 4 s before its own, rank 1 for 1 s."""
    slowdown = Slowdown(relay)
    assert slowdown.slow_ranks == (0,)
    slow = tolerances(relay)[-1]
    assert slow.slope == pytest.approx(4)
    assert slow.added == pytest.approx(0.1 / 4, rel=1e-5)


def test_noise_lengthens_what_is_computed_on_the_path(relay: Program) -> None:
    """Draws of a seed grow with the share: three stretches of the path, 8 s."""
    slowdown = Slowdown(relay)
    none, small, twice = (slowdown.draws_s(added) for added in (0.0, 0.01, 0.02))
    assert none == pytest.approx([10])
    assert len(set(small)) == NOISE_SEEDS
    for small_s, twice_s in zip(small, twice, strict=True):
        assert twice_s - 10 == pytest.approx(2 * (small_s - 10), rel=1e-6)
    assert fmean(small) == pytest.approx(10.08, abs=0.06)


@pytest.mark.parametrize(
    ("name", "messages"), [("MPI_Allreduce", 2), ("MPI_Alltoall", 2), ("MPI_Barrier", 2)]
)
def test_an_operation_has_several_messages_one_after_the_other(name: str, messages: int) -> None:
    made = timed(4, *(call(rank, name, "collective", -2, 1, 2) for rank in range(4)))
    latency, *_ = tolerances(made)
    assert latency.slope == pytest.approx(messages)


def test_computing_tolerates_every_network() -> None:
    made = timed(2, *(call(rank, "MPI_Comm_rank", "waiting", -2, 1, 1) for rank in range(2)))
    assert [tolerance.added for tolerance in tolerances(made)][:3] == [None] * 3
    assert tolerances(program(2)) == ()
