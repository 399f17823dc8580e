"""A program that others disturb is judged as if they did not: on timelines by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from nhalf.decide.program.basis import share_in_mpi, shares_in_mpi
from nhalf.decide.program.predict import predict_program
from nhalf.decide.program.slowdown import NETWORK, PARAMETERS, SLOW_NODE, Slowdown
from nhalf.decide.program.target import Target
from nhalf.decide.program.tolerance_curves import curves, tolerance
from nhalf.decide.program.undisturbed_program import (
    disturbance_doubt_ratio,
    undisturbed_elapsed_s,
    undisturbed_program,
)
from nhalf.experiment.improve.situation import upper_share
from nhalf.facts.program.critical_path import critical_path
from nhalf.facts.program.delays import delays
from nhalf.facts.program.disturbance import taken_from_run_s
from nhalf.facts.program.program import Program
from nhalf.machines.message import Messages
from nhalf.mpi.switch import MESSAGES, MPI
from nhalf.present.program.answer import answer_lines
from nhalf.present.program.prediction import prediction_lines
from nhalf.present.program.tolerance import show_curves
from tests.nhalf.decide.program.known_programs import machine
from tests.nhalf.traced_programs import call, disturbed, off, timed

ROUNDS = 6
COMPUTES_S, SENDS_S, WAY_S = 1.0, 0.125, 0.5
Taken = Mapping[int, float]
"""By round, what others take of it in seconds."""
NOTHING: Taken = MappingProxyType({})


def ping_pong(
    between: Taken = NOTHING, in_receive: Taken = NOTHING, in_send: Taken = NOTHING
) -> Program:
    """Two ranks that compute, send and receive by turns, and what others take of them."""
    calls: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    free_s, now_s = {0: 0.0, 1: 0.0}, 0.0
    for number in range(ROUNDS):
        source, target = number % 2, 1 - number % 2
        begin_s = now_s + COMPUTES_S + between.get(number, 0.0)
        sent_s = begin_s + SENDS_S + in_send.get(number, 0.0)
        end_s = begin_s + WAY_S + in_receive.get(number, 0.0) + in_send.get(number, 0.0)
        calls += [
            call(source, "MPI_Send", "sent", target, begin_s, sent_s),
            call(target, "MPI_Recv", "received", source, free_s[target], end_s),
        ]
        if number in between:
            spans.append(off(source, now_s, begin_s, between[number]))
        if number in in_send:
            spans.append(off(source, begin_s, sent_s, in_send[number], in_call=True))
        if number in in_receive:
            spans.append(off(target, free_s[target], end_s, in_receive[number], in_call=True))
        free_s[source], now_s = sent_s, end_s
    made = timed(2, *calls, ends_s=(now_s, now_s))
    return disturbed(made, *spans) if spans else made


DISTURBED = {
    "between calls": {"between": {2: 3.0, 3: 0.25}},
    "in a receive": {"in_receive": {3: 2.0}},
    "in a send": {"in_send": {1: 2.0}},
    "in most receives": {"in_receive": {1: 2.0, 2: 1.0, 3: 2.0, 4: 1.5}},
    "everywhere": {"between": {4: 3.0}, "in_receive": {3: 2.0}, "in_send": {1: 2.0}},
}


@pytest.mark.parametrize("taken", DISTURBED.values(), ids=list(DISTURBED))
def test_the_answers_are_those_without_others(taken: dict[str, Taken]) -> None:
    plain, made = ping_pong(), ping_pong(**taken)
    assert made.elapsed_s > plain.elapsed_s + 1
    assert undisturbed_elapsed_s(made) == pytest.approx(plain.elapsed_s)
    assert undisturbed_elapsed_s(plain) == plain.elapsed_s
    quiet, slowed = Slowdown(plain), Slowdown(made)
    for parameter in PARAMETERS:
        if parameter == SLOW_NODE and slowed.slow_ranks != quiet.slow_ranks:
            continue  # both ranks compute as long, so that either may be the slow one
        for added in (0.0, 0.01, 0.5):
            assert slowed.at(parameter, added) == pytest.approx(quiet.at(parameter, added))
        expected = tolerance(quiet, parameter)
        assert tolerance(slowed, parameter).added == pytest.approx(expected.added, rel=1e-5)
    assert shares_in_mpi(made)["time_share"].to_list() == pytest.approx(
        shares_in_mpi(plain)["time_share"].to_list()
    )
    on = Messages(machine())
    expected_on, there = (predict_program(traced, Target(on), on) for traced in (plain, made))
    assert there.time_s == pytest.approx(expected_on.time_s)
    assert (there.low_s, there.high_s) == pytest.approx((expected_on.low_s, expected_on.high_s))
    assert (there.error, there.undisturbed_s) == pytest.approx((expected_on.error, plain.elapsed_s))


@pytest.mark.parametrize("taken", DISTURBED.values(), ids=list(DISTURBED))
def test_whatever_is_known_of_a_program_is_known_without_others(taken: dict[str, Taken]) -> None:
    plain, made = ping_pong(), ping_pong(**taken)
    for one in (plain, made):
        one.trace.end_s = one.trace.start_s + one.elapsed_s
    alone = undisturbed_program(made)
    for name in ("start_s", "end_s"):
        expected_s, own_s = (
            one.timeline.sort("rank", "start_s")[name].to_list() for one in (plain, alone)
        )
        assert own_s == pytest.approx(expected_s)
    path, expected = critical_path(alone), critical_path(plain)
    assert path is not None and expected is not None
    assert path.length_s == pytest.approx(undisturbed_elapsed_s(made))
    assert path.calls_s == pytest.approx(expected.calls_s)
    charged = [delays(one).sort("rank")["waiting_s"].to_list() for one in (alone, plain)]
    assert charged[0] == pytest.approx(charged[1])
    for affected in (MPI, MESSAGES):
        assert upper_share(made, affected) == pytest.approx(upper_share(plain, affected))
    assert taken_from_run_s(alone) == 0.0
    assert undisturbed_program(alone) is alone
    assert undisturbed_program(plain) is plain


def test_a_call_that_was_made_only_once_is_known_without_others_too() -> None:
    """Rank 1 has no processor for 2 s of the only barrier, in which rank 0 waits for it: no call of
    that name was undisturbed."""
    rows = [call(rank, "MPI_Barrier", "collective", -2, 1, 3.5, size_bytes=0) for rank in (0, 1)]
    made = disturbed(timed(2, *rows, ends_s=(4, 4)), off(1, 1, 3.5, 2, in_call=True))
    assert taken_from_run_s(made) == pytest.approx(2.0)
    assert undisturbed_elapsed_s(made) == pytest.approx(2.0)
    assert disturbance_doubt_ratio(made) == pytest.approx(1.0)
    assert Slowdown(made).at(NETWORK[0], 0.0) == pytest.approx(2.0)


def test_where_both_ways_differ_the_interval_is_wider() -> None:
    """Without others rank 1 is the last to come, which the measured path does not know."""
    rows = [
        call(rank, "MPI_Barrier", "collective", -2, begin_s, 4.5, size_bytes=0)
        for rank, begin_s in enumerate((4.0, 3.0))
    ]
    made = disturbed(timed(2, *rows, ends_s=(5, 5)), off(0, 0, 4, 3))
    assert undisturbed_elapsed_s(made) == pytest.approx(4.0)
    assert disturbance_doubt_ratio(made) == pytest.approx(4.0 / 2.0)
    (point,) = curves([made], parameters=NETWORK[:1])[0].points[-1:]
    middle_s = point.time_s - 4.0
    assert point.high_s - 4.0 >= 2 * middle_s * 0.99


def test_an_operation_is_without_what_others_took_of_any_rank() -> None:
    """Barriers of 0.5 s; in the second one rank 1 has no processor for 2 s."""

    def barriers(more_s: float) -> Program:
        rows = []
        for number, begin_s in enumerate((1.0, 3.0, 5.0 + more_s)):
            late_s = begin_s + 0.5 + (more_s if number == 1 else 0.0)
            rows += [
                call(rank, "MPI_Barrier", "collective", -2, begin_s, late_s, size_bytes=0)
                for rank in (0, 1)
            ]
        made = timed(2, *rows, ends_s=(6 + more_s, 6 + more_s))
        span = off(1, 3, 3.5 + more_s, more_s, in_call=True)
        return disturbed(made, span) if more_s else made

    quiet, slowed = Slowdown(barriers(0)), Slowdown(barriers(2))
    for parameter in NETWORK:
        assert slowed.at(parameter, 0.25) == pytest.approx(quiet.at(parameter, 0.25))
    assert slowed.at(NETWORK[0], 0.0) == pytest.approx(6.0)


def test_a_rank_that_others_do_not_hold_up_waits_longer() -> None:
    """Rank 1 is disturbed for 1 of 2 s before it waits for rank 0: it could wait for 3 of 4 s."""
    rows = [
        call(rank, "MPI_Barrier", "collective", -2, begin_s, 4, size_bytes=0)
        for rank, begin_s in enumerate((4.0, 2.0))
    ]
    made = disturbed(timed(2, *rows, ends_s=(4, 4)), off(1, 0, 2, 1))
    assert shares_in_mpi(made)["time_share"].to_list() == pytest.approx([0.0, 0.75])
    in_mpi = share_in_mpi(made)
    assert in_mpi is not None
    assert in_mpi.mean_share == pytest.approx(0.375)


def test_outputs_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    plain, made = ping_pong(), ping_pong(between={2: 3.0})
    quiet, told = answer_lines(plain), answer_lines(made)
    assert told[1].startswith("With a processor for each rank the run would take 9 s instead of 12")
    # Whatever is said after that is said of the run without others.
    assert told[2:] == quiet
    on = Messages(machine())
    headline = prediction_lines(predict_program(made, Target(on), on))[0]
    assert headline.endswith("traced: 12 s, without what other programs took 9 s")
    show_curves(made, curves([made], parameters=NETWORK[:1]))
    assert ": 9 s with a processor for each rank (12 s as traced)" in capsys.readouterr().out
    show_curves(plain, curves([plain], parameters=NETWORK[:1]))
    assert "as traced" not in capsys.readouterr().out
