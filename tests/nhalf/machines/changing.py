"""A machine to change, and its parts."""

from __future__ import annotations

import math

import msgspec

from nhalf.machines.machine import (
    FittedModel,
    LogGP,
    Machine,
    Network,
    Node,
    Overheads,
    PatternModel,
    Protocol,
    PublishedPoint,
    Segment,
)
from nhalf.machines.topology import Torus


def segment(low: int, high: int, t0_s: float, rate_Bps: float, **more: float) -> Segment:
    return Segment(from_bytes=low, to_bytes=high, t0_s=t0_s, r_inf_Bps=rate_Bps, **more)


def curve(*segments: Segment, placement: str, pattern: str = "pingpong") -> FittedModel:
    return FittedModel(
        transport="mpi", pattern=pattern, ranks=2, placement=placement, segments=segments
    )


MACHINE = Machine(
    name="box",
    title="A box",
    node=Node(ranks=2, memory_Bps=8e9),
    network=Network(topology=Torus((4, 4)), bandwidth_Bps=1e9, latency_s=1e-7, adapter_Bps=9e8),
    protocol=Protocol(rendezvous_bytes=65536),
    patterns=(PatternModel(pattern="barrier", startup_s={"1": 1e-6}),),
    points=(PublishedPoint(pattern="pingpong", time_s=1e-6),),
    models=(
        curve(
            segment(0, 65535, 10e-6, 5e8),
            segment(65536, 4194304, 20e-6, 8e8, root_s=1e-8),
            placement="other-node",
        ),
        curve(segment(0, 4194304, 1e-6, 4e9), placement="same-node"),
        curve(segment(0, 8, 7e-6, math.inf), placement="other-node", pattern="exchange"),
    ),
    loggp=(
        LogGP(
            transport="mpi",
            placement="other-node",
            latency_s=6e-6,
            send_overhead_s=1e-6,
            recv_overhead_s=3e-6,
            gap_per_byte_s=2e-9,
            half_round_trip_s=10e-6,
            sizes=(Overheads(size_bytes=1000, gap_s=5e-6),),
        ),
    ),
)

WITHOUT_OVERHEADS = msgspec.structs.replace(MACHINE, loggp=())
