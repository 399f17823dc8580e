# SPDX-License-Identifier: Apache-2.0
"""Restrict a machine's models to ranks on one node, or to ranks spread over nodes."""

from __future__ import annotations

import msgspec

from nhalf.machines.curve import OTHER_NODE, is_between_nodes, is_message, ping_pongs
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Machine, PatternModel

ONE_NODE = ("cores", "free", "same-cache", "same-node", "whole-host")
"""Placements whose ranks share a node."""


def spans_nodes(placement: str) -> bool | None:
    """Whether ranks of a placement are on several nodes; None if unspecified.

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
    """The machine without models of ranks within a node, except for its messages.

    A machine without a ping-pong between nodes is returned unchanged.
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
    """The machine without models between nodes; `message` replaces a missing curve."""

    def counts(model: FittedModel | PatternModel) -> bool:
        return spans_nodes(model.placement) is not True

    return msgspec.structs.replace(
        machine,
        models=tuple(filter(counts, machine.models)) or (message,),
        patterns=tuple(filter(counts, machine.patterns)),
    )
