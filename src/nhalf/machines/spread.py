# SPDX-License-Identifier: Apache-2.0
"""Restrict messages and models of a machine to ranks on one node, or spread over nodes."""

from __future__ import annotations

import msgspec

from nhalf.machines.curve import OTHER_NODE, is_between_nodes, is_message
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, PatternModel
from nhalf.machines.message import Messages

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


def over_nodes(messages: Messages) -> Messages:
    """The messages of the machine without other models of ranks within a node.

    They are returned unchanged without a ping-pong between nodes, or without such models.
    """
    if not any(is_between_nodes(curve.placement) for curve in messages.ping_pongs):
        return messages
    machine = messages.machine

    def counts(model: FittedModel | PatternModel) -> bool:
        return spans_nodes(model.placement) is not False

    models = tuple(model for model in machine.models if is_message(model) or counts(model))
    patterns = tuple(filter(counts, machine.patterns))
    if (models, patterns) == (machine.models, machine.patterns):
        return messages
    restricted = msgspec.structs.replace(machine, models=models, patterns=patterns)
    return Messages(restricted, messages.mpi)


def within_node(messages: Messages) -> Messages:
    """The messages of the machine without models between nodes.

    If no curve is left, that of the messages between nodes replaces it.
    """
    machine = messages.machine

    def counts(model: FittedModel | PatternModel) -> bool:
        return spans_nodes(model.placement) is not True

    restricted = msgspec.structs.replace(
        machine,
        models=tuple(filter(counts, machine.models)) or (messages.within_node,),
        patterns=tuple(filter(counts, machine.patterns)),
    )
    return Messages(restricted, messages.mpi)
