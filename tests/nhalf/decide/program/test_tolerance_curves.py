"""Curves of the run time, of timelines by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.program import operation_paths
from nhalf.decide.program.slowdown import PARAMETERS, Slowdown
from nhalf.decide.program.tolerance_curves import (
    LEAST_DOUBT,
    POINTS,
    SlowedLaunch,
    ToleranceCurve,
    curves,
    doubt_s,
)
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import schedule
from tests.nhalf.traced_programs import call, program, timed


def relays(rounds: int, waits_s: float = 0.5) -> Program:
    """A message of 0.1 s each second, which rank 1 receives `waits_s` after it has come."""
    calls = []
    for number in range(rounds):
        calls += [
            call(0, "MPI_Send", "sent", 1, number + 0.4, number + 0.4, tag=number),
            call(1, "MPI_Recv", "received", 0, number + 0.5 + waits_s, number + 0.5 + waits_s,
                 tag=number),
        ]  # fmt: skip
    calls += [
        call(0, "MPI_Send", "sent", 1, rounds + 0.4, rounds + 0.4, tag=rounds),
        call(1, "MPI_Recv", "received", 0, rounds + 0.2, rounds + 0.5, tag=rounds),
    ]
    return timed(2, *calls, ends_s=(rounds + 0.4, rounds + 2))


def curve_of(made: Program, parameter: str = "latency_s") -> ToleranceCurve:
    return curves([made], parameters=[parameter])[0]


def test_a_curve_bends_where_slack_is_used_up() -> None:
    """One message is on the path; from 0.8 s on the first ones are late, too."""
    curve = curve_of(relays(1))
    first, *_, last = curve.points
    assert (first.time_s, first.slope) == pytest.approx((3, 1))
    assert last.time_s == pytest.approx(3.6)
    assert len(curve.points) == POINTS + 1
    assert curve.bends == ()
    assert curve.tolerated == pytest.approx(0.03, rel=1e-5)


def test_ends_of_intervals_enclose_what_is_tolerated() -> None:
    curve = curve_of(relays(4))
    assert curve.tolerated_low is not None
    assert curve.tolerated is not None
    assert curve.tolerated_low <= curve.tolerated * (1 + 1e-6)
    for point in curve.points:
        assert point.low_s <= point.time_s + 1e-9
        assert point.time_s <= point.high_s + 1e-9


def test_launches_are_one_curve() -> None:
    """The slow-downs are equal, the run times are not: the median and the hull."""
    once = curve_of(relays(1))
    several = curves([relays(1), relays(1), relays(1)], parameters=["latency_s"])[0]
    assert several == once


def test_operations_may_have_more_messages() -> None:
    """An allreduce of four ranks has 2 to 4 messages one after the other."""
    made = timed(4, *(call(rank, "MPI_Allreduce", "collective", -2, 1, 2) for rank in range(4)))
    last = curve_of(made).points[-1]
    lost_s = last.time_s - made.elapsed_s
    assert last.high_s - made.elapsed_s >= 2 * lost_s - 1e-9


def test_messages_that_are_given_are_in_no_doubt() -> None:
    made = timed(4, *(call(rank, "MPI_Allreduce", "collective", -2, 1, 2) for rank in range(4)))
    lost_s, low_s, high_s = SlowedLaunch(made, paths=lambda *_: operation_paths.Path(3, 0)).lost_s(
        "latency_s", 0.01
    )
    assert lost_s == pytest.approx(0.03)
    assert (low_s, high_s) == pytest.approx((0.03 * (1 - LEAST_DOUBT), 0.03 * (1 + LEAST_DOUBT)))


def test_a_program_that_tolerates_everything_has_no_points() -> None:
    made = timed(2, *(call(rank, "MPI_Comm_rank", "waiting", -2, 1, 1) for rank in range(2)))
    curve = curve_of(made)
    assert (curve.points, curve.bends, curve.tolerated) == ((), (), None)


def test_every_parameter_has_a_curve() -> None:
    assert [curve.parameter for curve in curves([relays(1)])] == list(PARAMETERS)


def test_counts_have_no_curves() -> None:
    with pytest.raises(InputError, match="no whole timeline"):
        curves([program(2)])


def test_traces_of_two_programs_are_refused() -> None:
    with pytest.raises(InputError, match="ranks"):
        curves([relays(1), replace(timed(3), path=Path("else"))])


def test_equal_rounds_leave_no_doubt() -> None:
    assert doubt_s(np.ones(20)) == pytest.approx((0, 0))
    low_s, high_s = doubt_s(np.array([0.0, 2.0] * 10))
    # The sum of 20 draws of 0 or 2: 20 with a deviation of 4.5.
    assert low_s == pytest.approx(8.8, abs=1.5)
    assert high_s == pytest.approx(8.8, abs=1.5)


@pytest.mark.parametrize("waits_s", [0.0, 0.25, 0.5])
def test_a_replay_without_a_change_is_the_trace(waits_s: float) -> None:
    made = relays(3, waits_s)
    assert Slowdown(made).at("latency_s", 0.0) == pytest.approx(made.elapsed_s, rel=1e-9)


def test_a_wait_completes_what_began_before_it() -> None:
    """In virtual time a message to oneself begins and ends at the very moment of a wait's end."""
    made = timed(
        2,
        call(1, "MPI_Send", "sent", 0, 1, 1),
        call(0, "MPI_Irecv", "received", 1, 0, 2),
        call(0, "MPI_Wait", "waiting", -2, 1, 2),
        call(0, "MPI_Irecv", "received", 0, 2, 2),
        call(0, "MPI_Send", "sent", 0, 2, 2),
        call(0, "MPI_Wait", "waiting", -2, 2, 2),
    )
    receiver = schedule(made)[0]
    assert [len(places) for places in receiver.completes.by_wait().values()] == [1, 1]
