"""Messages leave a rank, and come into one, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.decide.estimate.schedule import LoopTimes, schedule_of
from nhalf.decide.estimate.turns import replay_in_turn
from nhalf.decide.program.replay import Replay, replay
from nhalf.decide.program.target import Target
from nhalf.decide.program.undisturbed import undisturbed
from nhalf.facts.program.script import Script
from nhalf.loops.program.events import RECEIVED, SENT, Called, RankEvents
from nhalf.machines import catalogue
from nhalf.machines.message import Messages

SIZE_BYTES = 32_000
COSTS = Target(Messages(catalogue.machine("altix-bx2"))).costs(["0", "1", "2"])


def in_turn(script: Script) -> Replay:
    return replay_in_turn(script, COSTS, replay(script, COSTS, follows=True))


def events(kind: str, *partners: int) -> RankEvents:
    call = "MPI_Send" if kind == SENT else "MPI_Recv"
    return RankEvents([Called(call, 1, kind, partner, 0, SIZE_BYTES) for partner in partners])


def test_a_rank_that_sends_to_two_takes_the_bytes_of_both() -> None:
    ranks = [events(SENT, 1, 2), events(RECEIVED, 0), events(RECEIVED, 0)]
    script = undisturbed(schedule_of(Path("fan"), ranks, LoopTimes(None)).program)
    alone_s = COSTS.message_s(0, 1, SIZE_BYTES)
    both_s = alone_s + COSTS.port_s(0, 1, SIZE_BYTES)
    assert replay(script, COSTS).end_s < 0.6 * both_s
    assert in_turn(script).end_s == pytest.approx(both_s)


def test_a_rank_that_receives_from_two_takes_the_bytes_of_both() -> None:
    ranks = [events(RECEIVED, 1, 2), events(SENT, 0), events(SENT, 0)]
    script = undisturbed(schedule_of(Path("fan"), ranks, LoopTimes(None)).program)
    both_s = COSTS.message_s(1, 0, SIZE_BYTES) + COSTS.port_s(1, 0, SIZE_BYTES)
    assert replay(script, COSTS).end_s < 0.6 * both_s
    assert in_turn(script).end_s == pytest.approx(both_s)


def test_without_messages_there_is_nothing_to_put_in_turn() -> None:
    script = undisturbed(schedule_of(Path("none"), [RankEvents()], LoopTimes(None)).program)
    assert in_turn(script).end_s == 0.0
