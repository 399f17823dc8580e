"""The comments of a platform: which messages are exact, and the assumptions."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.base.carrier import carrier
from nhalf.base.units import format_rate, format_time
from nhalf.exchange.platform.costs import Cost
from nhalf.exchange.platform.shape import NetworkShape
from nhalf.machines.change import OVERHEAD_SHARE
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.machine import FittedModel, Machine

SHORTEST_S = 2e-9
"""Least latency of a link: factors need a positive number; SimGrid's resolution is 1 ns."""


def what_holds(
    model: FittedModel,
    shape: NetworkShape,
    costs: Sequence[Cost],
    hop_s: float | None,
    *,
    alone: bool,
) -> list[str]:
    """Comments on the messages that are exact, and on the treatment of others."""
    place = "within the node" if alone else "between neighbouring nodes"
    lines = [
        f"Shape: {shape.words}. Calibrated with the {model.pattern} of "
        f"{carrier(model.mpi, model.transport)}, {model.placement or 'same-node'}:",
        f"its times are exact {place}, of one message at a time.",
    ]
    if alone or not shape.varies:
        return lines
    if any(cost.send_s + cost.receive_s > 0 for cost in costs):
        lines += [
            f"Messages that pass more links are later by {format_time(hop_s or 0.0)} a link below "
            "the threshold (which is why",
            "os and or hold all but that). Above it SMPI has neither: there their latency grows in "
            "proportion to the links.",
        ]
    else:
        lines.append("The latency of messages grows in proportion to the links that they pass.")
    return lines


def what_is_assumed(
    machine: Machine,
    model: FittedModel,
    link_Bps: float,
    measured_Bps: float | None,
    threshold: str,
    hop_s: float | None,
) -> list[str]:
    """Unmeasured quantities, and the values assumed instead."""
    lines = [*machine.assumptions, threshold]
    if overhead_s(machine, model) is None:
        share = "" if hop_s else f" of {OVERHEAD_SHARE:.0%} of the first t0"
        lines.append(f"Overheads are unknown: equal ones{share} on both sides are assumed.")
    if hop_s == SHORTEST_S:
        lines.append("The latency of a link is unknown: next to nothing is assumed.")
    if measured_Bps is None:
        lines.append(
            f"The rate of a link is unknown: {format_rate(link_Bps)}, the most of one message."
        )
    elif measured_Bps < link_Bps:
        lines.append(
            f"A message is faster than the {format_rate(measured_Bps)} of a link: links have "
            f"{format_rate(link_Bps)}."
        )
    return lines
