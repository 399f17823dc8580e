# SPDX-License-Identifier: Apache-2.0
"""What of a machine's times counts for ranks on one node, and for ranks spread over nodes."""

from __future__ import annotations

import msgspec

from nhalf.machines.curve import OTHER_NODE, is_between_nodes, is_message, ping_pongs
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Machine, PatternModel

ONE_NODE = ("cores", "free", "same-cache", "same-node", "whole-host")
"""Placements whose ranks share a node."""


def spans_nodes(placement: str) -> bool | None:
    """Whether ranks of a placement are on several nodes; None if it does not say.

    Models of patterns have placements such as 'any x 2' and '1 x any' as well.
    """
    if placement == OTHER_NODE:
        return True
    if placement in ONE_NODE:
        return False
    layout = parse_layout(placement)
    if layout is not None:
        return layout.hosts > 1
    hosts, by, _ = placement.partition(" x ")
    return hosts != "1" if by else None


def over_nodes(machine: Machine) -> Machine:
    """The machine without what was timed within a node, except for its messages.

    A machine without a ping-pong between nodes remains as it is.
    """
    if not any(is_between_nodes(model.placement) for model in ping_pongs(machine)):
        return machine

    def counts(model: FittedModel | PatternModel) -> bool:
        return spans_nodes(model.placement) is not False

    return msgspec.structs.replace(
        machine,
        models=tuple(model for model in machine.models if is_message(model) or counts(model)),
        patterns=tuple(filter(counts, machine.patterns)),
    )


def within_node(machine: Machine, message: FittedModel) -> Machine:
    """The machine without what was timed between nodes; `message` stands for a missing curve."""

    def counts(model: FittedModel | PatternModel) -> bool:
        return spans_nodes(model.placement) is not True

    return msgspec.structs.replace(
        machine,
        models=tuple(filter(counts, machine.models)) or (message,),
        patterns=tuple(filter(counts, machine.patterns)),
    )
