"""Restrict messages and models of a machine to ranks on one node, or spread over nodes."""

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.machines.curve import OTHER_NODE, is_between_nodes, is_message
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Machine, PatternModel, PublishedPoint
from nhalf.machines.message import Messages
from nhalf.machines.published_times import AS_PINGPONG

SAME_NODE = "same-node"
ONE_NODE = ("cores", "free", "same-cache", SAME_NODE, "whole-host")
"""Placements whose ranks share a node."""
WITHIN = ("rank", "memory")
"""What messages within a node share."""


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

    Without a ping-pong between nodes all ranks share one, and times that were published between
    nodes do not count. They are returned unchanged without such models or times.
    """
    machine = messages.machine
    if not any(is_between_nodes(curve.placement) for curve in messages.ping_pongs):
        points = tuple(p for p in machine.points if spans_nodes(p.placement) is not True)
        if not messages.ping_pongs or points == machine.points:
            return messages
        return Messages(msgspec.structs.replace(machine, points=points), messages.mpi)

    def counts(model: FittedModel | PatternModel | PublishedPoint) -> bool:
        return spans_nodes(model.placement) is not False

    models = tuple(model for model in machine.models if is_message(model) or counts(model))
    patterns = tuple(filter(counts, machine.patterns))
    points = tuple(p for p in machine.points if p.pattern == AS_PINGPONG or counts(p))
    if (models, patterns, points) == (machine.models, machine.patterns, machine.points):
        return messages
    restricted = msgspec.structs.replace(machine, models=models, patterns=patterns, points=points)
    return Messages(restricted, messages.mpi)


def placed(machine: Machine, placement: str) -> Machine:
    """The machine with ranks that all share a node, or of which no two do; '': as it is.

    Layouts say the same: '1x8' is ranks on a node, '8x1' one on each. Raises InputError for another
    placement, and for one that the machine has no messages of.
    """
    if not placement:
        return machine
    is_apart = _is_apart(placement)
    messages = Messages(machine)
    if not any(is_between_nodes(curve.placement) == is_apart for curve in messages.ping_pongs):
        raise InputError(f"{machine.name} has no messages of {placement}", "leave --placement out")
    if not is_apart:
        node = machine.node and msgspec.structs.replace(machine.node, nodes_for_users=None)
        alone = msgspec.structs.replace(machine, network=None, node=node)
        return within_node(Messages(alone)).machine
    models = tuple(curve for curve in machine.models if spans_nodes(curve.placement) is not False)
    points = tuple(point for point in machine.points if spans_nodes(point.placement) is not False)
    between = msgspec.structs.replace(machine, models=models, points=points)
    return over_nodes(Messages(between)).machine


def _is_apart(placement: str) -> bool:
    """Whether no two ranks share a node."""
    layout = parse_layout(placement)
    if layout is not None and layout.hosts > 1 and layout.per_host > 1:
        reason = f"the model has all ranks on one node, or one on each, and not {placement}"
        raise InputError(reason, "ask --engine library, or write 1x8 or 8x1")
    if layout is None and placement not in (SAME_NODE, OTHER_NODE):
        raise unknown("placement", placement, (SAME_NODE, OTHER_NODE, "1x8", "8x1"))
    return placement == OTHER_NODE if layout is None else layout.hosts > 1


def within_node(messages: Messages) -> Messages:
    """The messages of the machine without models between nodes, or what ranks share between them.

    If no curve is left, that of the messages between nodes replaces it.
    """
    machine = messages.machine

    def counts(model: FittedModel | PatternModel | PublishedPoint) -> bool:
        return spans_nodes(model.placement) is not True

    restricted = msgspec.structs.replace(
        machine,
        models=tuple(filter(counts, machine.models)) or (messages.within_node,),
        patterns=tuple(filter(counts, machine.patterns)),
        points=tuple(filter(counts, machine.points)),
        shared=tuple(resource for resource in machine.shared if resource.what in WITHIN),
    )
    return Messages(restricted, messages.mpi)
