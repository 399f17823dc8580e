"""The script of a timeline: messages by number, prepared once for all machines."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.program.launches import predict_launches
from nhalf.decide.program.target import Target
from nhalf.facts.program import script as scripts
from nhalf.facts.program.script import Script, script
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import call, machine, ping_pong, with_counts
from tests.nhalf.traced_programs import program


def test_messages_are_numbered_at_both_ends() -> None:
    found = script(ping_pong(2, 1000))
    # Rank 0 sends 0, takes the answer 2, sends 1, takes 3: those of rank 0 come first.
    assert [actor.message.tolist() for actor in found.actors] == [[0, 2, 1, 3], [0, 2, 1, 3]]
    assert found.routes == [(0, 1, 1000), (1, 0, 1000)]
    assert found.route.tolist() == [0, 0, 1, 1]
    assert not found.always_waits.any()


def test_a_message_with_one_end_has_no_number() -> None:
    rows = [
        call("MPI_Send", "sent", 0, 1, (0.0, 0.1), size_bytes=8),
        call("MPI_Ssend", "sent", 0, 1, (0.2, 0.3), size_bytes=70),
        call("MPI_Recv", "received", 1, 0, (0.0, 0.1), size_bytes=8),
        call("MPI_Recv", "received", 1, 2, (0.2, 0.3), size_bytes=8),
    ]
    found = script(with_counts(rows, 3, 0.3))
    assert [actor.message.tolist() for actor in found.actors] == [[0, -1], [0, -1], []]


def test_a_wait_has_the_messages_that_it_completes_and_loops_of_polls_are_one() -> None:
    rows = [
        call("MPI_Irecv", "received", 0, 1, (0.0, 1.0), size_bytes=8),
        *[
            call("MPI_Test", "waiting", 0, -2, (0.5 + tick * 1e-7, 0.5 + tick * 1e-7 + 5e-8))
            for tick in range(9)
        ],
        call("MPI_Wait", "waiting", 0, -2, (0.9, 1.0)),
        call("MPI_Send", "sent", 1, 0, (0.0, 0.1), size_bytes=8),
    ]
    found = script(with_counts(rows, 2, 1.0))
    actor = found.actors[0]
    assert [step.call for step in actor.steps] == ["MPI_Irecv", "MPI_Test", "MPI_Wait"]
    assert [step.completes for step in actor.steps] == [(), (), ((1, 0, 0, 0, 0),)]
    assert actor.message.tolist() == [0, -1, -1]
    assert (found.awaited.step.tolist(), found.awaited.completed.tolist()) == ([2], [0])
    assert actor.before_s[1] == pytest.approx(0.5)
    assert actor.measured_s[1] == pytest.approx(8.5e-7)


def test_an_exchange_in_one_call_completes_its_own_send_only() -> None:
    rows = [
        call("MPI_Sendrecv", kind, rank, 1 - rank, span, size_bytes=8)
        for rank in (0, 1)
        for kind, span in (("received", (0.0, 0.1)), ("sent", (0.2, 0.2)), ("received", (0.2, 0.3)))
    ]
    actor = script(with_counts(rows, 2, 0.3)).actors[0]
    # The first receive has no send before it: what stands last is not its own.
    assert [actor.sends_of(place) for place in range(3)] == [[], [], [1]]
    assert [step.sends for step in actor.steps] == [(), (), ((0, 1, 0, 0, 0),)]


def test_no_message_and_no_call() -> None:
    rows = [call("MPI_Barrier", "collective", rank, -2, (0.1, 0.2)) for rank in (0, 1)]
    found = script(with_counts(rows, 2, 0.3))
    assert (found.routes, found.route.dtype) == ([], np.dtype(np.int32))
    assert found.parts.works == [("MPI_Barrier", (0, 1), 0)]
    empty = script(program(2))
    assert [actor.steps for actor in empty.actors] == [[], []]
    assert (empty.forms, empty.parts.works) == ((), [])


@pytest.mark.parametrize(("name", "seats"), [("MPI_Bcast", [0, 1, 2]), ("MPI_Gather", [-1])])
def test_works_name_their_root(name: str, seats: list[int]) -> None:
    rows = [
        call(name, "collective", rank, 2, (0.1, 0.2), size_bytes=8, tag=tag, number=tag)
        for rank in range(3)
        for tag in (0, 1)
    ]
    parts = script(with_counts(rows, 3, 0.3)).parts
    whole = [own for own in zip(parts.works, parts.seats, strict=True) if own[0][0]]
    names = (f"{name}, root 2", f"{name}, root 2, in place")
    assert sorted(whole) == [((of, (0, 1, 2), 8), seat) for of in names for seat in seats]


def test_a_script_is_prepared_once_for_all_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = []
    monkeypatch.setattr(scripts, "Script", lambda *parts: prepared.append(1) or Script(*parts))
    launches = [ping_pong(5, 1000), ping_pong(5, 1000)]
    for slower in (1.0, 2.0, 3.0):
        predict_launches(launches, Target(Messages(machine(slower))), Messages(machine()))
    assert len(prepared) == 2
