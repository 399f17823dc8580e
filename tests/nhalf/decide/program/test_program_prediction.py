"""Replays of programs whose run time is known in closed form on a machine with T(n) = t0 + n/r."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nhalf.base.errors import InputError
from nhalf.base.units import format_time
from nhalf.decide.program.costs import MachineCosts, pattern_of
from nhalf.decide.program.counted import longest_s
from nhalf.decide.program.predict import predict_program
from nhalf.decide.program.replay import Spent, replay
from nhalf.decide.program.target import Target, hosts_of, hosts_on
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import script
from nhalf.machines import catalogue
from nhalf.machines.computing import Computing, ComputingRatio
from nhalf.machines.machine_file import write
from nhalf.machines.message import Messages
from tests.nhalf.decide.program.known_programs import (
    RATE_BPS,
    RENDEZVOUS_BYTES,
    T0_S,
    call,
    machine,
    message_s,
    model_of,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.nhalf.traced_programs import stored
from tests.server import Ended


@pytest.mark.parametrize("size_bytes", [0, 1000, 50000])
def test_a_ping_pong_takes_twice_the_message(size_bytes: int) -> None:
    made = ping_pong(10, size_bytes)
    assert made.elapsed_s == pytest.approx(20 * message_s(size_bytes))
    assert replayed_s(made, machine()) == pytest.approx(made.elapsed_s)
    assert replayed_s(made, machine(3.0)) == pytest.approx(20 * message_s(size_bytes, 3.0))


def test_computing_stays_and_can_be_scaled() -> None:
    made = ping_pong(5, 1000, computing_s=0.01)
    found = predict_program(made, Target(Messages(machine(3.0))), Messages(machine()))
    assert found.time_s == pytest.approx(10 * (0.01 + message_s(1000, 3.0)))
    assert found.error == pytest.approx(0, abs=1e-9)
    assert (found.low_s, found.high_s) == pytest.approx((found.time_s, found.time_s))
    slower = ComputingRatio(0.5, {"as given": 0.5})
    half = predict_program(
        made, Target(Messages(machine(3.0)), computing=slower), Messages(machine())
    )
    assert half.time_s == pytest.approx(10 * (0.005 + message_s(1000, 3.0)))


def test_a_placement_that_the_nodes_do_not_hold_is_refused() -> None:
    made = ping_pong(5, 1000)
    assert hosts_on(made, catalogue.machine("sunfire-link"), "1x2") == ("0", "0")
    with pytest.raises(InputError, match="at most 1, not 2"):
        hosts_on(made, catalogue.machine("pentiumpro-ethernet"), "1x2")


def test_a_placement_over_nodes_takes_the_other_curve() -> None:
    made = ping_pong(10, 1000)
    assert replayed_s(made, machine(), "2x1") == pytest.approx(20 * (10 * T0_S + 1000 / RATE_BPS))
    for text, words in (("1x1", "room"), ("near", "not a placement")):
        with pytest.raises(InputError, match=words):
            hosts_of(made, text)


def test_large_sends_wait_for_their_receive() -> None:
    size_bytes = RENDEZVOUS_BYTES
    rows = [
        call("MPI_Send", "sent", 0, 1, (0.0, 0.1), size_bytes=size_bytes),
        call("MPI_Recv", "received", 1, 0, (1.0, 1.1), size_bytes=size_bytes),
    ]
    made = with_counts(rows, 2, 1.1)
    spent = replay(script(made), MachineCosts(Messages(machine()), made.hosts)).spent
    assert spent[0].end_s == pytest.approx(2.0 + message_s(size_bytes))  # and 1 s after it
    assert spent[1].end_s == pytest.approx(1.0 + message_s(size_bytes))
    assert spent[0].waiting_s == pytest.approx(1.0)


def exchange(size_bytes: int, begun: bool) -> Program:
    """Two ranks that send to each other at once."""
    rows = []
    for rank in (0, 1):
        receive = "MPI_Irecv" if begun else "MPI_Recv"
        start_s = 0.0 if begun else 0.1
        send = (0.0, 0.1)
        rows.append(
            call(receive, "received", rank, 1 - rank, (start_s, 0.2), size_bytes=size_bytes)
        )
        rows.append(call("MPI_Send", "sent", rank, 1 - rank, send, size_bytes=size_bytes))
        if begun:
            rows.append(call("MPI_Wait", "waiting", rank, -2, (0.1, 0.2)))
    return with_counts(rows, 2, 0.2)


def test_an_exchange_with_receives_begun_before() -> None:
    whole_s = message_s(1000)
    assert replayed_s(exchange(1000, begun=True), machine()) == pytest.approx(whole_s)
    # From the threshold of rendezvous on both ends have to be there, which they are.
    large = exchange(RENDEZVOUS_BYTES, begun=True)
    spent = replay(script(large), MachineCosts(Messages(machine()), large.hosts)).spent
    assert spent[0].end_s >= message_s(RENDEZVOUS_BYTES)


def test_an_exchange_that_would_deadlock_is_told() -> None:
    made = exchange(RENDEZVOUS_BYTES, begun=False)
    found = predict_program(made, Target(Messages(machine())), Messages(machine()))
    assert found.forced > 0
    assert found.time_s >= message_s(RENDEZVOUS_BYTES)


def barrier(late_s: float) -> Program:
    rows = []
    for number in range(3):
        for rank in range(4):
            span = (number + late_s * rank, number + 3 * late_s + 0.01)
            rows.append(call("MPI_Barrier", "collective", rank, -2, span))
    return with_counts(rows, 4, 2 + 3 * late_s + 0.01)


def test_a_barrier_ends_after_the_last() -> None:
    made = barrier(late_s=0.1)
    on = machine(patterns=(model_of("barrier", 0.02),))
    spent = replay(script(made), MachineCosts(Messages(on), made.hosts)).spent
    assert max(one.end_s for one in spent) == pytest.approx(2.3 + 0.01 + 3 * (0.02 - 0.01))
    assert spent[3].waiting_s == pytest.approx(0)
    assert spent[0].waiting_s == pytest.approx(3 * 0.3)
    assert spent[0].collectives_s == pytest.approx(0.06)


def test_a_root_does_not_wait_for_those_it_sends_to() -> None:
    rows = [
        call("MPI_Bcast", "collective", rank, 0, (0.0 if rank == 0 else 1.0, 1.1))
        for rank in (0, 1)
    ]
    made = with_counts(rows, 2, 1.1)
    on = machine(patterns=(model_of("bcast", 0.02),))
    spent = replay(script(made), MachineCosts(Messages(on), made.hosts)).spent
    assert spent[0].end_s == pytest.approx(0.02)
    assert spent[1].end_s == pytest.approx(1.02)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("alltoallv", ("alltoall", 8)), ("allgatherv", ("allgather", 64)), ("exscan", ("scan", 64))],
)
def test_operations_have_patterns(name: str, expected: tuple[str, int]) -> None:
    assert pattern_of(name, 8, 64) == expected


def test_counts_alone_give_a_time_and_its_error() -> None:
    timeline = ping_pong(10, 1000, computing_s=0.01)
    made = Program(
        timeline.path, timeline.trace, timeline.calls, timeline.bins, timeline.timeline.clear(),
        timeline.communicators,
    )  # fmt: skip
    found = predict_program(made, Target(Messages(machine(3.0))), Messages(machine()))
    assert found.method == "counts"
    assert found.time_s > made.elapsed_s * 0.5
    assert found.low_s <= found.time_s <= found.high_s
    assert sum(found.time_share.values()) == pytest.approx(1)
    # A blocking receive may overlap all but its own half: 10 receives of 3.5 ms less 1.25 ms.
    usual_s = 0.1 + 10 * (message_s(1000, 3.0) / 2 + message_s(1000, 3.0) / 2)
    assert found.low_s < 0.95 * found.time_s
    assert found.doubt_ratio["counts"] >= found.time_s / (usual_s + 1)
    again = predict_program(timeline, Target(Messages(machine(3.0))), Messages(machine()))
    assert found.low_s <= again.time_s <= found.high_s


def test_waiting_in_counts_may_grow_as_much_as_the_calls() -> None:
    here = [Spent(end_s=2.0, messages_s=0.2, collectives_s=0.3, waiting_s=0.5), Spent(end_s=1.0)]
    there = [Spent(end_s=3.5, messages_s=0.5, collectives_s=1.5, waiting_s=0.5), Spent(end_s=1.0)]
    assert longest_s(there, here) == pytest.approx(3.5 + 3 * 0.5)
    assert longest_s(here, there) == 2.0  # faster calls may still wait as long
    assert longest_s(there, [Spent(end_s=1.0)]) == 3.5


def test_a_wide_interval_is_no_prediction_and_says_why(
    tmp_path: Path, call: Callable[..., Ended]
) -> None:
    made = ping_pong(5, 1000, computing_s=0.01)
    run = stored(made, tmp_path / "run")
    cores = {"here": Computing(clock_hz=4e9), "there": Computing(clock_hz=1e9)}
    for name, core in cores.items():
        write(replace(machine(), computing=core), tmp_path / f"{name}.toml")
    write(machine(100.0), tmp_path / "slow.toml")
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    # Clocks alone: a cycle may do three times as much on either.
    by_clock = json.loads(
        call("predict", run, "--machine", there, "--traced-on", here, "--json").out
    )
    assert by_clock["computing"] == "by the cores"
    assert by_clock["computing_ratio"] == {"clock": 4.0}
    assert by_clock["low_s"] == pytest.approx(10 * (0.01 * 4 / 3 + message_s(1000)), rel=0.01)
    assert by_clock["high_s"] == pytest.approx(10 * (0.01 * 12 + message_s(1000)), rel=0.01)
    # Between 0.15 s and 1.2 s: less than a factor of 3 each way, thanks to the messages.
    assert by_clock["time_s"] == pytest.approx(10 * (0.01 * 4 + message_s(1000)), rel=0.01)
    told = call("predict", run, "--machine", here, "--traced-on", tmp_path / "slow.toml")
    assert told.code == 0
    first, why, cause, *_ = told.out.splitlines()
    assert "no prediction, something in" in first
    assert why.strip() == "the interval reaches further than a factor of 3:"
    assert cause.strip().startswith("the traced time differs from its own replay by a factor of ")
    assert "idle machine" in cause


def test_several_machines_are_one_table(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    for name, slower in (("here", 1.0), ("there", 3.0), ("slow", 30.0)):
        write(replace(machine(slower), name=name), tmp_path / f"{name}.toml")
    names = [tmp_path / f"{name}.toml" for name in ("here", "there", "slow")]
    words = ("predict", run, "--machine", ",".join(map(str, names)), "--traced-on", names[0])
    programs = json.loads(call(*words, "--json").out)["programs"]
    assert [program["machine"] for program in programs] == ["here", "there", "slow"]
    for program, slower in zip(programs, (1.0, 3.0, 30.0), strict=True):
        assert program["time_s"] == pytest.approx(10 * (0.01 + message_s(1000, slower)))
    assert [program["within_error"] for program in programs] == [True, False, False]
    out = call(*words).out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "1.00, within its error" in lines["here"]
    assert "within its error" not in lines["slow"]
    assert "computing as measured here, not scaled to slow" in out


def test_several_placements_are_one_table(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    write(machine(), tmp_path / "here.toml")
    words = ("predict", run, "--machine", tmp_path / "here.toml", "--placement", "1x2,2x1,1x2")
    programs = json.loads(call(*words, "--json").out)["programs"]
    assert [program["placement"] for program in programs] == ["1x2", "2x1"]
    apart_s = 10 * T0_S + 1000 / RATE_BPS
    for program, time_s in zip(programs, (message_s(1000), apart_s), strict=True):
        assert program["time_s"] == pytest.approx(10 * (0.01 + time_s))
    lines = [line.split() for line in call(*words).out.splitlines() if line.startswith("known")]
    assert [line[:2] for line in lines] == [["known", "1x2"], ["known", "2x1"]]
    alone = json.loads(call(*words[:-1], "2x1", "--json").out)
    assert (alone["placement"], alone["time_s"]) == ("2x1", programs[1]["time_s"])


def test_computing_that_is_not_scaled_is_marked(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    for name in ("here", "there"):
        write(replace(machine(), name=name), tmp_path / f"{name}.toml")
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    mark = "computing as measured here, not scaled to there"
    words = ("predict", run, "--machine", there, "--traced-on", here)
    assert mark in call(*words).out
    assert ") if it computed as fast as here; traced" in call(*words).out
    assert json.loads(call(*words, "--json").out)["computing"] == "as measured"
    assert "as fast as here" not in call(*words, "--computing-factor", "1").out
    assert mark not in call(*words, "--computing-factor", "1").out
    assert "not scaled" not in call("predict", run, "--machine", here, "--traced-on", here).out


def test_a_trace_that_was_cut_comes_to_an_end() -> None:
    made = ping_pong(5, 1000)
    cut = Program(
        made.path, made.trace, made.calls, made.bins,
        made.timeline.filter((made.timeline["rank"] == 0) | (made.timeline["start_s"] < 0.005)),
        made.communicators,
    )  # fmt: skip
    assert replayed_s(cut, machine()) > 0


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="needs SimGrid")
@pytest.mark.slow
def test_simgrid_replays_the_same() -> None:
    made = ping_pong(10, 1000, computing_s=0.01)
    found = predict_program(made, Target(Messages(machine(3.0)), simgrid=True), Messages(machine()))
    assert found.method == "simgrid"
    assert found.time_s == pytest.approx(20 * (0.01 + message_s(1000, 3.0)), rel=1e-3)
    apart = predict_program(
        made, Target(Messages(machine()), placement="2x1", simgrid=True), Messages(machine())
    )
    assert apart.time_s == pytest.approx(20 * (0.01 + 10 * T0_S + 1e-3), rel=1e-3)
    begun = exchange(1000, begun=True)
    on = Target(Messages(machine()), simgrid=True)
    assert predict_program(begun, on).time_s == pytest.approx(message_s(1000), rel=1e-3)
    rows = [
        call(f"MPI_{name}", "collective", rank, root, (number, number + 0.1), size_bytes=size_bytes)
        for rank in range(4)
        for number, (name, root, size_bytes) in enumerate(
            [("Bcast", 1, 8), ("Reduce", 0, 100000), ("Allreduce", -2, 8), ("Allreduce", -2, 9000),
             ("Alltoall", -2, 64), ("Allgather", -2, 8), ("Scan", -2, 8), ("Gather", 2, 8)]
        )
    ]  # fmt: skip
    every = predict_program(with_counts(rows, 4, 7.1), on)
    assert 6.3 < every.time_s < 8.5  # 0.9 s of computing between each two of them
    together = predict_program(barrier(late_s=0.1), on)
    assert together.time_s == pytest.approx(2.3, abs=0.1)


def test_computing_is_scaled_by_what_cores_do(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    cores = {
        "here": Computing(clock_hz=2e9, flops_per_s=1e10, memory_Bps=1e10),
        "there": Computing(clock_hz=4e9, flops_per_s=4e10, memory_Bps=5e9),
    }
    for name, one in cores.items():
        write(replace(machine(), computing=one), tmp_path / f"{name}.toml")
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    asked = ("predict", run, "--machine", there, "--traced-on", here)
    found: Mapping[str, Any] = json.loads(call(*asked, "--json").out)
    assert found["computing_ratio"] == {"clock": 0.5, "arithmetic": 0.25, "memory": 2.0}
    mean = (0.5 * 0.25 * 2.0) ** (1 / 3)
    assert found["time_s"] == pytest.approx(10 * (0.01 * mean + message_s(1000)))
    assert found["low_s"] == pytest.approx(10 * (0.01 * 0.25 + message_s(1000)))
    assert found["high_s"] == pytest.approx(10 * (0.01 * 2.0 + message_s(1000)), rel=0.01)
    assert "clock 0.50, arithmetic 0.25, memory 2.00" in call(*asked).out


def test_computing_that_is_not_scaled_is_no_headline(
    tmp_path: Path, call: Callable[..., Ended]
) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    there = tmp_path / "there.toml"
    write(replace(machine(), computing=Computing(clock_hz=1e9)), there)
    found = json.loads(call("predict", run, "--machine", there, "--json").out)
    assert (found["time_s"], found["computing"]) == (None, "unknown")
    assert found["low_s"] == pytest.approx(10 * message_s(1000))
    told = call("predict", run, "--machine", there).out
    assert f"no prediction, {format_time(10 * message_s(1000))} or more; traced" in told
    assert "nhalf predict PROGRAM.c has" in told
    assert "computing there is uncertain by an unknown factor" in told
    assert "relative to here" not in told
    given = call("predict", run, "--machine", there, "--computing-factor", "3", "--json").out
    assert json.loads(given)["time_s"] == pytest.approx(10 * (0.03 + message_s(1000)), rel=0.01)
    write(replace(machine(), name="there", computing=Computing(clock_hz=1e9)), there)
    same = call("predict", run, "--machine", there, "--traced-on", there, "--json").out
    assert json.loads(same)["time_s"] == pytest.approx(10 * (0.01 + message_s(1000)))
    messages = stored(ping_pong(5, 1000, 0.0), tmp_path / "messages")
    alone = json.loads(call("predict", messages, "--machine", there, "--json").out)
    assert alone["time_s"] == pytest.approx(10 * message_s(1000))


def test_a_processor_of_record_is_scaled_by_that_of_the_trace(
    tmp_path: Path, call: Callable[..., Ended]
) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    for name, clock_hz in (("here", 133.4e6), ("there", 66.7e6)):
        core = Computing(clock_hz=clock_hz, processor="power2")
        write(replace(machine(), name=name, computing=core), tmp_path / f"{name}.toml")
    words = ("predict", run, "--machine", tmp_path / "there.toml", "--traced-on")
    found = json.loads(call(*words, tmp_path / "here.toml", "--json").out)
    assert set(found["computing_ratio"]) == {
        "arithmetic", "loads", "stores", "chains of sums", "chains of products",
    }  # fmt: skip
    assert found["time_s"] == pytest.approx(10 * (0.01 + message_s(1000)))


def test_the_command_prints_the_error(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(ping_pong(5, 1000, 0.01), tmp_path / "run")
    for name, slower in (("here", 1.0), ("there", 3.0)):
        write(machine(slower), tmp_path / f"{name}.toml")
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    told = call("predict", run, "--machine", there, "--traced-on", here, "--json")
    assert told.code == 0, told.err
    found: Mapping[str, Any] = json.loads(told.out)
    assert found["time_s"] == pytest.approx(10 * (0.01 + message_s(1000, 3.0)))
    assert found["error"] == pytest.approx(0, abs=1e-9)
    assert "error +0.0 %" in call("predict", run, "--machine", there, "--traced-on", here).out
    alone = call("predict", run, "--machine", there)
    assert "the trace's own calls" in alone.out
    call("predict", run, "--machine", there, "--ranks", "4").is_error(2, "trace")
    call("predict", run, "--machine", there, "--computing-factor", "0").is_error(2, "factor")
    call("predict", "bcast", "--machine", there, "--placement", "4x2").is_error(2, "4x2")
