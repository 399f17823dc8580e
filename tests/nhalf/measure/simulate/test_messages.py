"""Simulated messages against the formulas that they must follow, on every machine of record."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Node, Protocol, Segment
from nhalf.machines.topology import Crossbar, FatTree, Hypercube, Topology, Torus
from nhalf.machines.wires import EAGER_BYTES
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.simulate.subject import SELECTORS, site_of, smpi_subject
from tests.patience import patience_s

Ask = Callable[..., list[dict[str, Any]]]

SIZES = [0, 1, 7, 8, 100, 512, 4095, 4096, 16384, 65535, 65536, 65537, 262143, 1 << 20, 1 << 22]
NEAR = 0.02
OPERATIONS = (
    *("allgather", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather", "reduce"),
    *("reduce-scatter", "scan", "scatter", "iallgather", "iallreduce", "ialltoall", "ialltoallv"),
    *("ibarrier", "ibcast", "igather", "ireduce", "ireduce-scatter", "iscan", "iscatter"),
)
"""Relative, of a simulated ping-pong to the published formula."""


def time_s(record: dict[str, Any]) -> float:
    """The one sample of a point."""
    assert record["nhalf"] == "point", record
    assert record["verified"], record
    (sample_s,) = record["samples_s"]
    return float(sample_s)


def curves(machine: Machine) -> list[tuple[FittedModel, int]]:
    """The ping-pongs of a machine with the number of the node that the second rank is on."""
    ranks = machine.node.ranks if machine.node else 1
    found = []
    for model in machine.models:
        if model.pattern == "pingpong" and model.segments:
            distance = int(model.axes.removeprefix("distance=") or "0")
            apart = max(1, distance // ranks) if model.placement == "other-node" else 0
            found.append((model, apart))
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", catalogue.names())
def test_ping_pongs_are_the_published_ones(ask: Ask, name: str) -> None:
    machine = catalogue.machine(name)
    known = curves(machine)
    assert known
    for model, apart in known:
        lines = [f"pattern=pingpong bytes={size}" for size in SIZES]
        placed: dict[str, Any] = {"placement": "same-node"}
        if apart:
            placed = {"nodes": (0, apart), "placement": "2x1"}
        answers = ask(machine, lines, **placed)
        got = {size: time_s(one) for size, one in zip(SIZES, answers, strict=True)}
        covered = [s for s in SIZES if any(p.from_bytes <= s <= p.to_bytes for p in model.segments)]
        assert covered
        for size in covered:
            want_s = model.time_s(size)
            if want_s > 0:
                assert got[size] == pytest.approx(want_s, rel=NEAR), (model.axes, size)


T0, RATE, LATE_T0 = 8e-6, 1e9, 30e-6
O_S, O_R = 1e-6, 3e-6
LINK_S = 1e-7
THRESHOLD = 65536


def box(topology: Topology, **network: Any) -> Machine:
    """A machine whose every number is known."""
    segments = (
        Segment(from_bytes=0, to_bytes=THRESHOLD - 1, t0_s=T0, r_inf_Bps=RATE),
        Segment(from_bytes=THRESHOLD, to_bytes=1 << 22, t0_s=LATE_T0, r_inf_Bps=RATE),
    )
    pingpong = FittedModel(
        transport="mpi", pattern="pingpong", ranks=2, placement="other-node", segments=segments
    )
    loggp = LogGP(transport="mpi", send_overhead_s=O_S, recv_overhead_s=O_R)
    wires = Network(topology=topology, bandwidth_Bps=RATE, latency_s=LINK_S, **network)
    return Machine(
        name="box",
        node=Node(ranks=1),
        network=wires,
        protocol=Protocol(rendezvous_bytes=THRESHOLD),
        models=(pingpong,),
        loggp=(loggp,),
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("topology", "node", "further"),
    [
        (Crossbar(9), 8, 0),
        (Torus((5,)), 1, 0),
        (Torus((5,)), 2, 1),
        (Torus((5,)), 3, 1),
        (Torus((4, 4)), 10, 3),
        (Hypercube(3), 7, 2),
        (FatTree((2, 2), (1, 1), (1, 1)), 1, 0),
        (FatTree((2, 2), (1, 1), (1, 1)), 3, 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("adapter_Bps", [None, 8e8])
def test_each_further_link_adds_its_latency(
    ask: Ask, topology: Topology, node: int, further: int, adapter_Bps: float | None
) -> None:
    machine = box(topology, adapter_Bps=adapter_Bps)
    (got,) = ask(machine, ["pattern=pingpong bytes=0"], placement="2x1", nodes=(0, node))
    assert time_s(got) == pytest.approx(T0 + further * LINK_S, rel=1e-3)


def test_long_sends_end_when_their_bytes_have_left(ask: Ask) -> None:
    patterns = ("overhead-send", "overhead-recv", "roundtrip", "gap")
    sizes = (0, EAGER_BYTES, EAGER_BYTES + 1)
    lines = [f"pattern={name} bytes={size}" for size in sizes for name in patterns]
    got = [time_s(record) for record in ask(box(Crossbar(2)), lines)]
    empty, short, long = (got[place : place + 4] for place in (0, 4, 8))
    assert empty == pytest.approx([O_S, O_R, 2 * T0, O_R], rel=1e-3)
    assert short[:2] == pytest.approx([O_S, O_R], rel=1e-3)
    assert long[:2] == pytest.approx([O_S + (EAGER_BYTES + 1) / RATE, O_R], rel=1e-3)


def test_a_load_that_is_offered_is_accepted(ask: Ask) -> None:
    lines = [f"pattern=traffic bytes=16384 axis.load={load} axis.to=neighbour" for load in (0, 50)]
    free, half = ask(box(Crossbar(4)), lines, ranks=4)
    assert half["values"]["offered_Bps"] == pytest.approx(half["values"]["saturated_Bps"] / 2)
    assert time_s(half) == pytest.approx(2 * time_s(free), rel=0.05)


def test_work_beside_an_operation_is_done(ask: Ask) -> None:
    (record,) = ask(box(Crossbar(4)), ["pattern=ibcast bytes=1024 axis.work=1"], ranks=4)
    values = record["values"]
    assert values["work_s"] == pytest.approx(values["pure_s"])
    assert values["pure_s"] > T0
    assert time_s(record) >= values["work_s"]
    assert 0 <= values["overlap"] <= 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks", [*range(1, 18)])
def test_operations_give_the_right_data(ask: Ask, ranks: int) -> None:
    # Each choice of algorithms has odd and even numbers, and powers of two.
    collectives = SELECTORS[ranks % len(SELECTORS)]
    machine = box(Crossbar(17))
    in_place = ("allgather", "allreduce", "reduce")
    lines = [
        f"pattern={name} bytes={0 if name.endswith('barrier') else 1000}" for name in OPERATIONS
    ]
    lines += [f"pattern={name} bytes=1000 axis.place=in" for name in in_place]
    lines += [f"pattern={name} bytes=0" for name in OPERATIONS]
    lines += [f"pattern={name} bytes=8 axis.call=first" for name in ("bcast", "allreduce")]
    for line, record in zip(
        lines, ask(machine, lines, ranks=ranks, collectives=collectives), strict=True
    ):
        if record["nhalf"] == "error":
            assert "needs 2 ranks" in record["message"], line
            assert ranks == 1
        else:
            assert time_s(record) >= 0, line


def test_one_rank_alone_sends_nothing(ask: Ask) -> None:
    lines = [f"pattern={name} bytes=8" for name in ("pingpong", "dense-alltoall", "bcast", "ring")]
    for record in ask(box(Crossbar(2)), lines, ranks=1):
        assert record["nhalf"] == "error" or time_s(record) >= 0


@pytest.mark.parametrize("collectives", SELECTORS)
def test_the_first_operation_costs_what_the_second_does(ask: Ask, collectives: str) -> None:
    """What a library of the simulator sets up at its first call is none of the machine's time."""
    lines = [f"pattern={name} bytes=8" for name in ("allreduce", "allreduce", "bcast", "bcast")]
    machine = catalogue.machine("altix-bx2")
    got = [time_s(one) for one in ask(machine, lines, ranks=162, collectives=collectives)]
    assert got[0] == pytest.approx(got[1], rel=1e-9)
    assert got[2] == pytest.approx(got[3], rel=1e-9)
    # A tree over 81 nodes has 7 steps up and 7 down; 3 ms would be a set-up.
    assert got[0] < 50e-6


def test_the_same_question_has_the_same_answer_bit_for_bit(ask: Ask) -> None:
    machine = catalogue.machine("x1-ssp")
    lines = [
        *("pattern=dense-random bytes=1000 axis.phase=3", "pattern=ring bytes=4096 axis.ring=9"),
        *("pattern=alltoall bytes=100", "pattern=traffic bytes=512 axis.load=50"),
    ]
    first, second = (ask(machine, lines, ranks=12) for _ in range(2))
    assert any(record["nhalf"] == "point" for record in first)
    assert first == second


def test_large_messages_need_neither_memory_nor_time_of_this_machine(ask: Ask) -> None:
    """64 ranks with 2 x 16 MiB each for each other would be 128 GiB."""
    (record,) = ask(box(Crossbar(64)), ["pattern=alltoall bytes=16777216"], ranks=64)
    assert time_s(record) > 63 * (1 << 24) / RATE


def test_what_if_is_seen_in_messages(ask: Ask) -> None:
    usual = box(Crossbar(2))
    lines = ["pattern=pingpong bytes=0", "pattern=pingpong bytes=4194304"]
    wide = change(usual, ["network.bandwidth=2x"])
    small, large = (time_s(record) for record in ask(wide, lines))
    assert small == pytest.approx(T0, rel=1e-3)
    assert large == pytest.approx(LATE_T0 + (1 << 22) / (2 * RATE), rel=1e-3)


def test_bad_points_are_refused_and_the_next_is_answered(ask: Ask) -> None:
    lines = ["pattern=nothing", "pattern=bcast axis.colour=red", "pattern=pingpong bytes=0"]
    unknown, colour, good = ask(box(Crossbar(2)), lines)
    assert "unknown pattern" in unknown["message"]
    assert "no axis 'colour'" in colour["message"]
    assert time_s(good) == pytest.approx(T0, rel=1e-3)


def living(group: int) -> list[str]:
    """The processes of a group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(path.parent.name)
    return found


@pytest.mark.usefixtures("simulator")
class TestEnds:
    def launch(self) -> tuple[list[str], dict[str, str]]:
        machine = box(Crossbar(4))
        subject = smpi_subject(machine, site_of(machine, 4), SELECTORS[0])
        return subject.launch(4, "cores", "")

    def test_nothing_is_left_of_a_launch_that_was_killed(self) -> None:
        probe = Probe(*self.launch(), timeout_s=60)
        group = probe._processes.process.pid
        assert living(group)
        probe.kill()
        # Whose parent died is buried by another, who comes when it can.
        last_s = time.monotonic() + patience_s(10)
        while living(group) and time.monotonic() < last_s:
            time.sleep(0.05)
        assert not living(group)

    @pytest.mark.parametrize("text", ["", "curve apart=0\n", "link bandwidth_Bps=x\n"])
    def test_a_damaged_description_ends_the_launch(self, tmp_path: Any, text: str) -> None:
        command, _ = self.launch()
        path = tmp_path / "machine.txt"
        path.write_text(text)
        with pytest.raises(LaunchError):
            Probe(command, {"NHALF_MACHINE": str(path)}, timeout_s=60)

    def test_a_launch_ends_with_its_input(self) -> None:
        command, variables = self.launch()
        done = subprocess.run(
            command,
            input=b"",
            env={**os.environ, **variables},
            capture_output=True,
            timeout=patience_s(60),
            check=True,
        )
        assert done.stderr == b""
