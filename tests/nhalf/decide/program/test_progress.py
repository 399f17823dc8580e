"""What goes on while ranks compute, poll or wait, in programs whose time is known exactly.

Each was traced on a machine with other messages than the one it is replayed on, so that no time of
the trace but that of computing can help.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.replay import Spent, replay
from nhalf.facts.program.script import script
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    T0_S,
    call,
    curve,
    machine,
    message_s,
    model_of,
    with_counts,
)

LARGE, SMALL = RENDEZVOUS_BYTES, 1000
NEXT_S = 1e-9
"""When the second of two calls begins."""
Rows = list[dict[str, Any]]


def spent(rows: Rows, on: Machine | None = None, ranks: int = 2) -> list[Spent]:
    made = with_counts(rows, ranks, max(row["end_s"] for row in rows))
    replayed = replay(script(made), MachineCosts(Messages(on or machine()), made.hosts))
    assert replayed.forced == 0
    return replayed.spent


def exchange(size_bytes: int, computing_s: float, wait: str = "MPI_Waitall") -> Rows:
    """Both ranks begin to receive and to send, compute, and wait."""
    rows: Rows = []
    wait_s = (0.2 + computing_s, 0.3 + computing_s)
    for rank in (0, 1):
        more = {"size_bytes": size_bytes}
        received = (0.0, wait_s[1])
        rows.append(call("MPI_Irecv", "received", rank, 1 - rank, received, **more))
        rows.append(call("MPI_Isend", "sent", rank, 1 - rank, (NEXT_S, 0.2), **more))
        rows.append(call(wait, "waiting", rank, -2, wait_s))
    return rows


@pytest.mark.parametrize("size_bytes", [SMALL, LARGE])
def test_nothing_large_goes_while_both_compute(size_bytes: int) -> None:
    for one in spent(exchange(size_bytes, computing_s=1.0)):
        # A small message is copied in before and out afterwards, which is half of it each.
        assert one.end_s == pytest.approx(1.0 + message_s(size_bytes))


def test_large_messages_that_cross_take_what_was_measured() -> None:
    crossing = msgspec.structs.replace(curve(50 * T0_S, "cores"), pattern="pingping")
    on = msgspec.structs.replace(machine(), models=(*machine().models, crossing))
    for one in spent(exchange(LARGE, computing_s=1.0), on):
        assert one.end_s == pytest.approx(1.0 + 50 * T0_S + message_s(LARGE) - T0_S)


def test_ranks_that_send_attend_to_what_they_began_to_receive() -> None:
    rows: Rows = []
    for rank in (0, 1):
        more = {"size_bytes": LARGE}
        rows.append(call("MPI_Irecv", "received", rank, 1 - rank, (0.0, 0.4), **more))
        rows.append(call("MPI_Send", "sent", rank, 1 - rank, (NEXT_S, 0.3), **more))
        rows.append(call("MPI_Wait", "waiting", rank, -2, (0.3, 0.4)))
    for one in spent(rows):
        assert one.end_s == pytest.approx(message_s(LARGE))


@pytest.mark.parametrize("blocks", [True, False])
def test_a_large_send_waits_for_a_receiver_that_computes(blocks: bool) -> None:
    """Its receive was begun before, but the receiver is inside MPI a second later."""
    send = "MPI_Send" if blocks else "MPI_Isend"
    rows = [
        call(send, "sent", 0, 1, (0.1, 1.5 if blocks else 0.2), size_bytes=LARGE),
        call("MPI_Irecv", "received", 1, 0, (0.0, 1.5), size_bytes=LARGE),
        call("MPI_Wait", "waiting", 1, -2, (1.0, 1.5)),
    ]
    if not blocks:
        rows.append(call("MPI_Wait", "waiting", 0, -2, (0.2, 1.5)))
    found = spent(rows)
    for one in found:
        assert one.end_s == pytest.approx(1.0 + message_s(LARGE))
    assert found[0].waiting_s > 0.8


def test_a_call_in_between_moves_what_is_under_way() -> None:
    """The receiver is in a barrier from 0.5 s on, and waits for its message at 2 s."""
    rows = [
        call("MPI_Isend", "sent", 0, 1, (0.1, 0.1), size_bytes=LARGE),
        call("MPI_Irecv", "received", 1, 0, (0.0, 2.1), size_bytes=LARGE),
        call("MPI_Barrier", "collective", 0, -2, (0.1, 0.6)),
        call("MPI_Barrier", "collective", 1, -2, (0.5, 0.6)),
        call("MPI_Wait", "waiting", 0, -2, (0.6, 2.1)),
        call("MPI_Wait", "waiting", 1, -2, (2.0, 2.1)),
    ]
    on = machine(patterns=(model_of("barrier", 0.1),))
    sender, receiver = spent(rows, on)
    assert receiver.end_s == pytest.approx(0.5 + 0.1 + 1.4)  # nothing is left to take
    assert sender.end_s == pytest.approx(max(0.6 + message_s(LARGE) / 2, 0.5 + message_s(LARGE)))


def test_an_exchange_in_one_call_ends_when_both_parts_do() -> None:
    """Rank 1 takes what rank 0 sends a second after rank 0 had what it wanted."""
    rows = [
        call("MPI_Sendrecv", "sent", 0, 1, (0.0, 0.0), size_bytes=LARGE),
        call("MPI_Sendrecv", "received", 0, 1, (0.0, 1.2), size_bytes=SMALL),
        call("MPI_Send", "sent", 1, 0, (0.0, 0.1), size_bytes=SMALL),
        call("MPI_Recv", "received", 1, 0, (1.1, 1.2), size_bytes=LARGE),
    ]
    begun_s = 1.0 + message_s(SMALL) / 2
    assert spent(rows)[0].end_s == pytest.approx(begun_s + message_s(LARGE))


def polls(name: str, rank: int, from_s: float, number: int = 10, gap_s: float = 0.0) -> Rows:
    """Tests of 0.1 s each."""
    begins = [from_s + at * (0.1 + gap_s) for at in range(number)]
    return [call(name, "waiting", rank, -2, (each, each + 0.1)) for each in begins]


def late_message(begun: str) -> Rows:
    return [
        call("MPI_Send", "sent", 0, 1, (1.0, 1.1), size_bytes=SMALL),
        call(
            begun, "received", 1, 0, (0.0 if begun == "MPI_Irecv" else 1.2, 1.2), size_bytes=SMALL
        ),
    ]


def test_testing_in_a_loop_is_waiting() -> None:
    rows = late_message("MPI_Irecv") + polls("MPI_Test", 1, 0.2)
    receiver = spent(rows)[1]
    assert receiver.end_s == pytest.approx(1.0 + message_s(SMALL))
    assert receiver.computing_s == pytest.approx(0.2)


def test_probing_in_a_loop_is_waiting() -> None:
    rows = late_message("MPI_Recv") + polls("MPI_Iprobe", 1, 0.2)
    receiver = spent(rows)[1]
    assert receiver.end_s == pytest.approx(1.0 + message_s(SMALL))
    assert receiver.computing_s == pytest.approx(0.2)


def test_work_between_polls_is_computing() -> None:
    rows = [
        call("MPI_Send", "sent", 0, 1, (0.0, 0.1), size_bytes=SMALL),
        call("MPI_Irecv", "received", 1, 0, (0.0, 1.5), size_bytes=SMALL),
        *polls("MPI_Test", 1, 0.0, 5, gap_s=0.2),
        call("MPI_Wait", "waiting", 1, -2, (1.5, 1.5)),
    ]
    assert spent(rows)[1].computing_s == pytest.approx(5 * 0.2)


@pytest.mark.parametrize("end", ["MPI_Wait", "MPI_Test"])
def test_operations_that_do_not_block_overlap_with_computing(end: str) -> None:
    rows: Rows = []
    for rank, begin_s in enumerate((0.0, 0.7)):
        span = (begin_s, begin_s)
        rows.append(call("MPI_Iallreduce", "collective", rank, -2, span, size_bytes=8))
        if end == "MPI_Test":
            rows += polls(end, rank, begin_s + 1.0, 4)
        else:
            rows.append(call(end, "waiting", rank, -2, (begin_s + 1.0, begin_s + 1.4)))
    first, last = spent(rows, machine(patterns=(model_of("allreduce", 0.02),)))
    # Rank 0 waits for nothing: rank 1 began while it computed.
    assert first.waiting_s == pytest.approx(0)
    assert first.collectives_s == pytest.approx(0.02)
    assert last.end_s == pytest.approx(1.72)
