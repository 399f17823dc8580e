"""Simulated messages leave their rank one after the other, as predictions have it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from nhalf.decide.predict import predict
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Node, Segment
from nhalf.machines.topology import Crossbar
from nhalf.machines.wires import EAGER_BYTES

Ask = Callable[..., list[dict[str, Any]]]

RANKS = 8
T0_S, RATE_Bps = 8e-6, 1e9
O_S, O_R, GAP_S = 1e-6, 2e-6, 4e-6
EXACT = 1e-3
ALIKE = 0.02
"""Between a simulation and a prediction."""


def plain(gap_s: float = 0.0) -> Machine:
    """Eight nodes on a crossbar, whose curve is one line."""
    segment = Segment(from_bytes=0, to_bytes=1 << 22, t0_s=T0_S, r_inf_Bps=RATE_Bps)
    pingpong = FittedModel(
        transport="mpi", pattern="pingpong", ranks=2, placement="other-node", segments=(segment,)
    )
    loggp = LogGP(transport="mpi", send_overhead_s=O_S, recv_overhead_s=O_R, gap_s=gap_s)
    return Machine(
        name="plain",
        node=Node(ranks=1),
        network=Network(topology=Crossbar(RANKS)),
        models=(pingpong,),
        loggp=(loggp,),
    )


def simulated_s(ask: Ask, machine: Machine, ways: Sequence[str], sizes: Sequence[int]) -> list[Any]:
    """Times of broadcasts, one rank on each node: by algorithm, then by size."""
    lines = [f"pattern=bcast axis.algorithm={way} bytes={size}" for way in ways for size in sizes]
    asked = ask(machine, lines, RANKS, f"{RANKS}x1", nodes=range(RANKS))
    return [record["samples_s"][0] for record in asked]


def test_the_first_message_of_a_tree_arrives_before_the_second(ask: Ask) -> None:
    """Side by side, the root's three would all arrive after 3 n / r."""
    size = 32768
    (time_s,) = simulated_s(ask, plain(), ["binomial"], [size])
    assert time_s == pytest.approx(3 * (T0_S + size / RATE_Bps), rel=EXACT)


def test_following_messages_leave_when_the_one_before_has_left(ask: Ask) -> None:
    """Latencies pass at once: the last leaves after the bytes of the other six, and after their o_s
    where each send waits until its bytes have left."""
    sizes = (EAGER_BYTES, EAGER_BYTES + 1)
    short_s, long_s = simulated_s(ask, plain(), ["linear"], sizes)
    assert short_s == pytest.approx(T0_S + (RANKS - 1) * sizes[0] / RATE_Bps, rel=EXACT)
    busy_s = (RANKS - 2) * O_S
    assert long_s == pytest.approx(T0_S + busy_s + (RANKS - 1) * sizes[1] / RATE_Bps, rel=EXACT)


def test_short_messages_leave_a_gap_apart(ask: Ask) -> None:
    free_s, spaced_s = (simulated_s(ask, plain(gap_s), ["linear"], [0])[0] for gap_s in (0, GAP_S))
    assert free_s == pytest.approx(T0_S + (RANKS - 2) * O_S, rel=EXACT)
    assert spaced_s == pytest.approx(T0_S + (RANKS - 2) * GAP_S, rel=EXACT)


def test_short_messages_come_in_a_gap_apart(ask: Ask) -> None:
    """Of the two that arrive at once, one is there a gap later; then both messages back."""
    (record,) = ask(
        plain(GAP_S), ["pattern=barrier axis.algorithm=central"], 3, "3x1", nodes=range(3)
    )
    assert record["samples_s"][0] == pytest.approx(2 * (T0_S + GAP_S), rel=EXACT)


@pytest.mark.parametrize(
    ("size_bytes", "time_s"),
    [
        (1024, 55e-6 + 1024 / 22.6e6),
        (8192, -52e-6 + 8192 / 16.2e6),
        (1 << 20, 167e-6 + (1 << 20) / 20.7e6),
    ],
)
def test_an_exchange_takes_what_was_published(ask: Ask, size_bytes: int, time_s: float) -> None:
    """But no less than a message, as the study has it of short ones."""
    machine = catalogue.machine("sp2-mpl")
    (record,) = ask(machine, [f"pattern=exchange bytes={size_bytes}"], 2, "2x1", nodes=range(2))
    assert record["samples_s"][0] == pytest.approx(time_s, rel=EXACT)


def test_nothing_is_left_on_the_way_of_the_next_point(ask: Ask) -> None:
    """Messages of the SP2 leave one rank further apart than they stream."""
    lines = [f"pattern=bcast axis.algorithm=binomial bytes={size}" for size in (8, 1 << 20, 8)]
    asked = ask(catalogue.machine("sp2-mpl"), lines, 2, "2x1", nodes=range(2))
    first_s, _, again_s = (record["samples_s"][0] for record in asked)
    assert again_s == pytest.approx(first_s, rel=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["altix-bx2", "myrinet-gm", "sp2-mpl"])
def test_broadcasts_take_what_is_predicted(ask: Ask, name: str) -> None:
    machine = catalogue.machine(name)
    ways, sizes = ("linear", "binomial", "scatter-allgather"), (8, 8192, 65536, 1 << 20)
    predicted = predict("bcast", machine, [RANKS], sizes, algorithms(), extrapolate=True)
    rows = {way.algorithm: predicted.time_s[place, 0] for place, way in enumerate(predicted.ways)}
    expected_s = [float(time_s) for way in ways for time_s in rows[way]]
    assert simulated_s(ask, machine, ways, sizes) == pytest.approx(expected_s, rel=ALIKE)


def test_messages_of_any_two_leaf_switches_pass_what_their_nodes_share(ask: Ask) -> None:
    """Nodes 0 and 1 of the Altix are below one switch, 0 and 8 are not; no node moves both ways at
    once what it moves one way."""
    machine = catalogue.machine("altix-bx2")
    lines = ["pattern=pingpong bytes=2048", "pattern=exchange bytes=2048"]
    for peer in (1, 8):
        asked = ask(machine, lines, 2, "2x1", nodes=(0, peer))
        one_way_s, both_ways_s = (record["samples_s"][0] for record in asked)
        assert both_ways_s > 1.4 * one_way_s, peer


def test_a_fan_into_one_rank_takes_what_was_published(ask: Ask) -> None:
    """Closer behind each other than one message streams: 8 ranks of the SP1, 64 KiB."""
    lines = ["pattern=many-to-one bytes=65536"]
    (record,) = ask(catalogue.machine("sp1-mpl"), lines, RANKS, f"{RANKS}x1", nodes=range(RANKS))
    fixed_s = -26e-6 + 40e-6 * 7**0.5 + 7 * 7.6e-6
    per_byte_s = 0.128e-6 + 0.161e-6 * math.log2(7)
    assert record["samples_s"][0] == pytest.approx(fixed_s + 65536 * per_byte_s, rel=0.01)
