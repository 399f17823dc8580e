"""Messages of a script share what they pass on the network of a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nhalf.decide.estimate.evaluation import LoopTimes, schedule_of
from nhalf.decide.program import followed as module
from nhalf.decide.program.followed import FollowedScript, followed
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import Target
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.script import Script
from nhalf.loops.program.events import COLLECTIVE, RECEIVED, SENT, Called, RankEvents, WaitedFor
from nhalf.machines import catalogue
from nhalf.machines.message import Messages

SIZE_BYTES = 32_000
BYTES_S = SIZE_BYTES / 1264e6
MESSAGES = Messages(catalogue.machine("altix-bx2"))
COSTS = Target(MESSAGES).costs(["0", "1", "2"])


def script_of(*ranks: Sequence[Called | WaitedFor]) -> Script:
    events = [RankEvents([*own]) for own in ranks]
    return undisturbed(schedule_of(Path("program"), events, LoopTimes(None)).program)


def on_network(script: Script) -> FollowedScript:
    whole = followed(script, COSTS, MESSAGES)
    assert whole is not None
    return whole


def message(kind: str, partner: int, tag: int = 0, *, begins: bool = False) -> Called:
    call = {SENT: "send", RECEIVED: "recv"}[kind]
    name = f"MPI_I{call}" if begins else f"MPI_{call.title()}"
    return Called(name, 1, kind, partner, tag, SIZE_BYTES, begins)


def test_without_calls_nothing_takes_time() -> None:
    assert on_network(script_of([], [], [])).end_s == 0.0


def test_one_message_takes_what_it_does_in_a_replay() -> None:
    script = script_of([message(SENT, 1)], [message(RECEIVED, 0)], [])
    whole = on_network(script)
    assert whole.end_s == pytest.approx(replay(script, COSTS).end_s, rel=1e-6)
    assert (whole.last, whole.begins_s.tolist()) == (1, [0.0])
    assert whole.ends_s.tolist() == [whole.end_s]


@pytest.mark.parametrize("kind", [SENT, RECEIVED])
def test_two_messages_out_of_a_rank_or_into_it_take_the_bytes_of_both(kind: str) -> None:
    other = RECEIVED if kind == SENT else SENT
    script = script_of([message(kind, 1), message(kind, 2)], [message(other, 0)],
                       [message(other, 0)])  # fmt: skip
    alone_s = COSTS.message_s(0, 1, SIZE_BYTES)
    assert replay(script, COSTS).end_s < alone_s + 0.6 * BYTES_S
    # A long message has to leave before its sender begins the next one, and each is taken.
    again_s = COSTS.busy_s(0, 1, SIZE_BYTES)[kind == RECEIVED]
    assert on_network(script).end_s == pytest.approx(alone_s + BYTES_S + again_s, rel=1e-6)


def test_messages_both_ways_share_what_a_rank_moves() -> None:
    def both(partner: int) -> list[Called | WaitedFor]:
        sent, received = (message(kind, partner, begins=True) for kind in (SENT, RECEIVED))
        return [received, sent, WaitedFor("MPI_Waitall", 2, (1, 2))]

    alone_s = COSTS.message_s(0, 1, SIZE_BYTES)
    assert on_network(script_of(both(1), both(0), [])).end_s == pytest.approx(
        alone_s + BYTES_S, rel=1e-3
    )


def test_a_wait_takes_messages_in_the_order_in_which_they_arrive() -> None:
    receives = [message(RECEIVED, source, begins=True) for source in (1, 2)]
    late = [Called("MPI_Recv", 1, RECEIVED, 2, 1, 0), message(SENT, 0)]
    early = [message(SENT, 0), Called("MPI_Send", 1, SENT, 1, 1, 0)]
    begun_s = on_network(
        script_of([*receives, WaitedFor("MPI_Waitall", 2, (1, 2))], late, early)
    ).end_s
    in_turn_s = on_network(script_of([message(RECEIVED, 2), message(RECEIVED, 1)], late, early))
    assert begun_s == pytest.approx(in_turn_s.end_s)


def test_messages_of_two_tags_are_told_apart() -> None:
    short = [Called("MPI_Send", 1, SENT, 1, 7, 8), Called("MPI_Recv", 1, RECEIVED, 0, 7, 8)]
    script = script_of([short[0], message(SENT, 1)], [message(RECEIVED, 0), short[1]], [])
    whole = on_network(script)
    assert whole.ends_s[0] - whole.begins_s[0] > BYTES_S
    assert whole.ends_s[1] - whole.begins_s[1] < 1e-6


def test_an_operation_of_unknown_algorithm_takes_its_cost_after_the_last() -> None:
    names = [Called("MPI_Allreduce", 1, COLLECTIVE, -2, 0, 8) for _ in range(3)]
    script = script_of(*([name] for name in names))
    cost_s = COSTS.collective_s("MPI_Allreduce", [0, 1, 2], 8)
    assert on_network(script).end_s == pytest.approx(cost_s, rel=1e-6)


def test_broadcasts_follow_each_other_down_the_tree() -> None:
    count = 20
    calls = [Called("MPI_Bcast", 1, COLLECTIVE, 0, 0, 8)] * count
    costs = Target(MESSAGES).costs(["0", "1", "2", "3"])
    script = script_of(*([*calls] for _ in range(4)))
    one_s = costs.collective_s("MPI_Bcast", [0, 1, 2, 3], 8)
    whole = followed(script, costs, MESSAGES)
    assert whole is not None
    assert whole.end_s < 0.6 * count * one_s


def test_too_many_messages_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MESSAGES_MAX", 0)
    script = script_of([message(SENT, 1)], [message(RECEIVED, 0)], [])
    assert followed(script, COSTS, MESSAGES) is None
