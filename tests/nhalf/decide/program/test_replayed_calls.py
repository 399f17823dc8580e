"""What calls of each kind cost in a replay, and what the prediction makes of its error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.counted import counted
from nhalf.decide.program.predict import UNEXPLAINED, predict_program
from nhalf.decide.program.replay import Spent, replay
from nhalf.decide.program.target import Target
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import script
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import write
from nhalf.machines.message import Messages
from nhalf.mpi.decision_table import FIRST_LINE, Rule
from tests.nhalf.decide.program.known_programs import (
    RENDEZVOUS_BYTES,
    T0_S,
    call,
    curve,
    machine,
    message_s,
    model_of,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.nhalf.traced_programs import stored
from tests.server import Ended


def spent(made: Program, on: Machine | None = None) -> list[Spent]:
    return replay(script(made), MachineCosts(Messages(on or machine()), made.hosts)).spent


def late_receive(send: str, size_bytes: int, receive: str = "MPI_Recv") -> Program:
    """Rank 1 receives a second after rank 0 has sent."""
    rows = [
        call(send, "sent", 0, 1, (0.0, 0.1), size_bytes=size_bytes),
        call(receive, "received", 1, 0, (1.0, 1.1), size_bytes=size_bytes),
    ]
    return with_counts(rows, 2, 1.1)


def test_a_synchronous_send_waits_whatever_its_size() -> None:
    made = late_receive("MPI_Ssend", 8)
    assert spent(made)[0].waiting_s == pytest.approx(1.0)
    assert spent(late_receive("MPI_Send", 8))[0].waiting_s == pytest.approx(0)


@pytest.mark.parametrize("send", ["MPI_Isend", "MPI_Sendrecv", "MPI_Bsend", "MPI_Send_init"])
def test_what_does_not_block_lets_its_sender_go(send: str) -> None:
    found = spent(late_receive(send, RENDEZVOUS_BYTES))
    assert found[0].waiting_s == pytest.approx(0)
    # But its data waits for the receive.
    assert found[1].end_s == pytest.approx(1.0 + message_s(RENDEZVOUS_BYTES))


def test_an_exchange_in_one_call_is_no_deadlock() -> None:
    rows = []
    for rank in (0, 1):
        for kind, span in (("sent", (0.0, 0.0)), ("received", (0.0, 0.2))):
            rows.append(
                call("MPI_Sendrecv", kind, rank, 1 - rank, span, size_bytes=RENDEZVOUS_BYTES)
            )
    made = with_counts(rows, 2, 0.2)
    replayed = replay(script(made), MachineCosts(Messages(machine()), made.hosts))
    whole_s = message_s(RENDEZVOUS_BYTES)
    assert replayed.end_s == pytest.approx(whole_s)
    assert replayed.forced == 0


def test_messages_that_cross_take_what_was_measured() -> None:
    size_bytes = 1000
    rows = [
        call(name, kind, rank, 1 - rank, span, size_bytes=size_bytes)
        for rank in (0, 1)
        for name, kind, span in (
            ("MPI_Isend", "sent", (0.0, 0.1)),
            ("MPI_Recv", "received", (0.1, 0.2)),
        )
    ]
    made = with_counts(rows, 2, 0.2)
    assert replayed_s(made, machine()) == pytest.approx(message_s(size_bytes))
    crossing = msgspec.structs.replace(curve(1.5 * T0_S, "cores"), pattern="pingping")
    on = msgspec.structs.replace(machine(), models=(*machine().models, crossing))
    assert replayed_s(made, on) == pytest.approx(1.5 * T0_S + 1e-3)
    # What is alone takes what it took.
    alone_s = replayed_s(ping_pong(3, size_bytes), on)
    assert alone_s == pytest.approx(6 * message_s(size_bytes), rel=0.03)


def test_a_wait_takes_its_shortest_time_besides() -> None:
    rows = [
        call("MPI_Wait", "waiting", 0, -2, (start_s, end_s))
        for start_s, end_s in ((0.0, 3e-6), (1e-4, 1e-4 + 1e-6), (2e-4, 2e-4 + 5e-6))
    ]
    (only,) = spent(with_counts(rows, 1, 3e-4))
    assert only.end_s == pytest.approx(3e-4 - (2e-6 + 4e-6))


def test_the_root_of_a_scatter_has_all_blocks() -> None:
    rows = [
        call(
            "MPI_Scatter", "collective", rank, 0, (0.0, 0.1), size_bytes=4000 if not rank else 1000
        )
        for rank in range(4)
    ]
    made = with_counts(rows, 4, 0.1)
    model = msgspec.structs.replace(model_of("scatter", 0.01), per_byte_s={"1": 1e-6})
    assert replayed_s(made, machine(patterns=(model,))) == pytest.approx(0.011)
    counts = Program(
        *(made.path, made.trace, made.calls, made.bins, made.timeline.clear(), made.communicators)
    )
    found = counted(counts, MachineCosts(Messages(machine(patterns=(model,))), made.hosts))
    assert [one.collectives_s for one in found] == pytest.approx([0.011] * 4)


def test_what_the_replay_leaves_out_stays() -> None:
    exact = ping_pong(5, 1000, computing_s=0.01)
    # Messages took three times as long here as the machine's file says.
    slow = machine(1 / 3)
    found = predict_program(exact, Target(Messages(slow)), Messages(slow))
    assert found.error < 0
    assert found.time_s == pytest.approx(exact.elapsed_s)
    faster = predict_program(exact, Target(Messages(machine(1 / 6))), Messages(slow))
    saved_s = replayed_s(exact, slow) - replayed_s(exact, machine(1 / 6))
    assert saved_s == pytest.approx(10 * T0_S / 6, rel=0.1)
    assert faster.time_s == pytest.approx(exact.elapsed_s - saved_s)
    assert faster.time_share[UNEXPLAINED] > 0
    assert sum(faster.time_share.values()) == pytest.approx(1)
    # A replay that is too long is divided by as much.
    too_long = predict_program(exact, Target(Messages(machine(6.0))), Messages(machine(3.0)))
    assert too_long.error > 0
    alone_s = 10 * (0.01 + message_s(1000, 6.0))
    assert too_long.time_s == pytest.approx(alone_s / (1 + too_long.error))
    assert UNEXPLAINED not in too_long.time_share


def test_start_up_is_no_computing() -> None:
    made = ping_pong(5, 1000)
    ranks = [msgspec.structs.replace(one, start_s=-2.0, ready_s=0.0) for one in made.trace.ranks]
    trace = msgspec.structs.replace(made.trace, ranks=ranks)
    begun = Program(*(made.path, trace, made.calls, made.bins, made.timeline, made.communicators))
    assert begun.elapsed_s == pytest.approx(made.elapsed_s)
    assert replayed_s(begun, machine()) == pytest.approx(made.elapsed_s)


def test_a_trace_knows_its_own_messages() -> None:
    costs = TracedCosts(ping_pong(5, 1000, computing_s=0.01))
    assert costs.message_s(0, 1, 1000) == pytest.approx(message_s(1000))
    rows = [
        call("MPI_Allreduce", "collective", rank, -2, (late_s, 1.25), size_bytes=8)
        for rank, late_s in enumerate((0.0, 0.5, 1.0))
    ]
    own = TracedCosts(with_counts(rows, 3, 2.0))
    assert own.collective_s("MPI_Allreduce", (0, 1, 2), 8) == pytest.approx(0.25)


def test_operations_take_the_algorithms_of_a_table() -> None:
    rows = [
        call("MPI_Bcast", "collective", rank, 0, (0.0, 0.1), size_bytes=1000) for rank in range(4)
    ]
    made = with_counts(rows, 4, 0.1)
    binomial = msgspec.structs.replace(model_of("bcast", 0.03), algorithm="binomial")
    on = machine(patterns=(model_of("bcast", 0.02), binomial))
    rule = Rule("bcast", 2, 8, 0, 2047, "binomial")

    def end_s(*rules: Rule) -> float:
        return replay(script(made), MachineCosts(Messages(on), made.hosts, rules)).end_s

    assert end_s() == pytest.approx(0.02)
    assert end_s(rule) == pytest.approx(0.03)
    assert end_s(Rule("bcast", 2, 8, 2048, 4095, "binomial")) == pytest.approx(0.02)
    with pytest.raises(InputError, match="nowhere"):
        end_s(Rule("bcast", 2, 8, 0, 2047, "nowhere"))


def test_the_command_takes_a_table(tmp_path: Path, call: Callable[..., Ended]) -> None:
    rows: list[dict[str, Any]] = [
        {"call": "MPI_Bcast", "kind": "collective", "rank": rank, "partner": 0, "end_s": 0.1,
         "size_bytes": 1000}
        for rank in range(4)
    ]  # fmt: skip
    run = stored(with_counts([{**row, "start_s": 0.0} for row in rows], 4, 0.1), tmp_path / "run")
    binomial = msgspec.structs.replace(model_of("bcast", 0.5), algorithm="binomial")
    file, table = tmp_path / "here.toml", tmp_path / "table"
    write(machine(patterns=(model_of("bcast", 0.1), binomial)), file)
    table.write_text(f"{FIRST_LINE}\nbcast 2 inf 0 inf binomial\n")
    asked = ("predict", run, "--machine", file, "--traced-on", file, "--json")
    assert json.loads(call(*asked).out)["time_s"] == pytest.approx(0.1)
    assert json.loads(call(*asked, "--algorithms", table).out)["time_s"] == pytest.approx(0.5)
    call(*asked, "--algorithms", table, "--simgrid").is_error(2, "algorithms of its own")


def test_a_long_timeline_is_replayed_call_by_call() -> None:
    """20,000 calls of a ring: each rank computes, sends, and takes what its neighbour sent."""
    ranks, rounds, size_bytes = 4, 1250, 1000
    rows, now_s = [], 0.0
    for _ in range(rounds):
        now_s += 1e-3
        for rank in range(ranks):
            begin = (now_s, now_s + 1e-6)
            rows += [
                call("MPI_Irecv", "received", rank, (rank - 1) % ranks, (now_s, now_s + 1e-5)),
                call("MPI_Send", "sent", rank, (rank + 1) % ranks, begin),
                call("MPI_Wait", "waiting", rank, -2, (now_s + 1e-6, now_s + 1e-5)),
                call("MPI_Barrier", "collective", rank, -2, (now_s + 1e-5, now_s + 2e-5)),
            ]
        now_s += 2e-5
    rows = [{**row, "size_bytes": 0 if row["kind"] == "collective" else size_bytes} for row in rows]
    made = with_counts(rows, ranks, now_s)
    assert len(made.timeline) == 4 * ranks * rounds
    on = machine(patterns=(model_of("barrier", 0.01),))
    # After computing, a message and a barrier.
    expected_s = rounds * (1e-3 + message_s(size_bytes) + 0.01)
    assert replayed_s(made, on) == pytest.approx(expected_s, rel=1e-3)
