"""The curves of a machine for a single message, and the ranks that it connects."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import msgspec

from nhalf.base.units import format_size
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Breakpoint, FittedModel, LogGP, Machine, Segment

PINGPONG = "pingpong"
OTHER_NODE = "other-node"
CHANGED = "(changed)"
"""Suffix of the source of numbers that were changed since."""
JUMP_BYTES_MIN = 1024
"""No library negotiates smaller messages: a jump there is due to a cache or a packet."""
THRESHOLD_BYTES = 65536
"""Rendezvous threshold if nothing is known, the default of simulators as well."""
OVERHEAD_SHARE = 0.25
"""What each processor is taken to be busy of the first t0, where that is unknown."""


def is_between_nodes(placement: str) -> bool:
    """Whether two ranks of a placement are on two nodes: "other-node", or a layout such as 2x1."""
    if placement == OTHER_NODE:
        return True
    layout = parse_layout(placement)
    return layout is not None and layout.hosts > 1 and layout.per_host == 1


def is_message(model: FittedModel) -> bool:
    """Whether a curve is the time of one message: ping-pong in one of its send modes."""
    return model.pattern == PINGPONG or model.pattern.startswith(f"{PINGPONG}-")


def loggp_of(machine: Machine, model: FittedModel) -> LogGP | None:
    """The parameters of the library and placement of a curve; None if there are none.

    Parameters of the library without a placement apply to any placement.
    """
    for placement in (model.placement, ""):
        subject = (model.transport, model.mpi, placement)
        for parameters in machine.loggp:
            if (parameters.transport, parameters.mpi, parameters.placement) == subject:
                return parameters
    return None


class SoftwareCosts(NamedTuple):
    """Seconds of the processors of sender and receiver, and between messages of one rank."""

    send_s: float
    receive_s: float
    gap_s: float


def software_costs(machine: Machine, model: FittedModel) -> SoftwareCosts:
    """What each message of a curve costs beside its way, by the parameters of its library; where
    these do not say it OVERHEAD_SHARE of the shortest time for either processor, and no gap.
    """
    usual_s = OVERHEAD_SHARE * model.shortest_s
    parameters = loggp_of(machine, model)
    if parameters is None:
        return SoftwareCosts(usual_s, usual_s, 0.0)
    both_s = (parameters.send_overhead_s, parameters.recv_overhead_s)
    send_s, receive_s = (usual_s if cost_s is None else max(cost_s, 0.0) for cost_s in both_s)
    return SoftwareCosts(send_s, receive_s, parameters.gap_s or 0.0)


def threshold_bytes(machine: Machine, model: FittedModel) -> tuple[int, str]:
    """The size from which a send waits for its receive, and a sentence on its source.

    If the machine file does not contain it, it is the first upward jump of the curve beyond
    JUMP_BYTES_MIN, and THRESHOLD_BYTES without such a jump.
    """
    rendezvous_bytes = None if machine.protocol is None else machine.protocol.rendezvous_bytes
    if rendezvous_bytes is not None:
        return (
            rendezvous_bytes,
            f"Sends wait for their receives from {format_size(rendezvous_bytes)} on.",
        )
    for change in model.breakpoints:
        size = math.ceil(change.at_bytes)
        if change.kind == "jump" and change.change_percent > 0 and size >= JUMP_BYTES_MIN:
            return size, (
                f"That sends wait for their receives from {format_size(size)} on is assumed: "
                "there the time jumps."
            )
    return THRESHOLD_BYTES, (
        f"That sends wait for their receives from {format_size(THRESHOLD_BYTES)} on is assumed."
    )


def breakpoints_between(segments: Iterable[Segment]) -> tuple[Breakpoint, ...]:
    """The breakpoints between consecutive segments, at the first size of the upper one."""
    from nhalf.models.forms.segmented import BEND_PERCENT

    changes = []
    for lower, upper in pairwise(segments):
        at = float(upper.from_bytes)
        before = lower.time_s(at)
        percent = 100 * (upper.time_s(at) / before - 1) if before > 0 else 0.0
        changes.append(
            Breakpoint(
                low_bytes=lower.to_bytes,
                high_bytes=upper.from_bytes,
                at_bytes=at,
                change_percent=percent,
                kind="jump" if abs(percent) >= BEND_PERCENT else "bend",
            )
        )
    return tuple(changes)


def rebuilt(model: FittedModel, segments: Iterable[Segment]) -> FittedModel:
    """The curve with new segments, without the errors and steps measured for the old ones."""
    segments, source = tuple(segments), model.source.removesuffix(CHANGED).strip()
    return msgspec.structs.replace(
        model,
        segments=segments,
        breakpoints=breakpoints_between(segments),
        heldout_median=None,
        heldout_p95=None,
        heldout_sizes=0,
        packet_steps=None,
        source=f"{source} {CHANGED}" if source else "",
    )
