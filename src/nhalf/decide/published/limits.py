"""What no figure can be, whatever engines say of it: more than links carry, ranks without room.

Limits have the tolerance that published figures of record need: rounded rates are up to 1 % more
than the link they pass, and a range of sizes begins up to 10 % before the one before it ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from nhalf.decide.b_eff import NAMES
from nhalf.decide.published.figures import figures, place_of
from nhalf.machines import catalogue
from nhalf.machines.curve import OTHER_NODE, is_between_nodes
from nhalf.machines.machine import FittedModel, Machine, PublishedPoint
from nhalf.machines.message import Messages
from nhalf.machines.shared import ends
from nhalf.machines.wires import ranks_per_node
from nhalf.store.keys import parse_axes

LIMITS = "limits"
"""Who says so, in the place of an engine."""
ROUNDED = 1.01
FALLS = 1.1
EARLY = 1.35
"""An exchange of short messages may take less than one of them, by this factor."""
BOTH = 2.0
FLOPS_PER_CYCLE = (0.5, 32)


class Alarm(NamedTuple):
    """A figure that does not fit: which, who says so, how far it is away, and from what."""

    figure: str
    engine: str
    ratio: float
    why: str


def beyond_limits(machine: Machine) -> list[Alarm]:
    """The figures of a machine that cannot be, each with how many times its limit it is."""
    checks = (_rates, _ranges, _halves, _places, _room, _distances, _exchanges, _b_eff, _clock)
    return [alarm for check in checks for alarm in check(machine)]


def _over(figure: str, value: float, limit: float, why: str) -> Iterator[Alarm]:
    if value > limit * ROUNDED:
        yield Alarm(figure, LIMITS, value / limit, why)


def _rates(machine: Machine) -> Iterator[Alarm]:
    """What passes between nodes is no faster than their links, one message or all together."""
    network = machine.network
    if network is None or not network.bandwidth_Bps:
        return
    way_Bps = min(network.bandwidth_Bps, network.adapter_Bps or math.inf)
    for curve in filter(_is_published, machine.models):
        if is_between_nodes(curve.placement):
            rate_Bps = max(s.r_inf_Bps for s in curve.segments if math.isfinite(s.r_inf_Bps))
            yield from _over(_curve(curve), rate_Bps, way_Bps, "over the rate of a link")
    for figure in figures(machine):
        point = figure.point
        if point.pattern in ("aggregate", "traffic") and place_of(machine, point) == OTHER_NODE:
            all_Bps = network.topology.nodes * way_Bps
            yield from _over(figure.words, figure.value, all_Bps, "over what all nodes send")


def _ranges(machine: Machine) -> Iterator[Alarm]:
    """A longer message takes no less time, nor does one more rank; times are positive."""
    for curve in filter(_is_published, machine.models):
        for before, after in pairwise(curve.segments):
            first, last = after.time_s(after.from_bytes), before.time_s(before.to_bytes)
            words = f"{_curve(curve)}, from {after.from_bytes} B"
            yield from _over(
                words, last / max(first, 1e-12), FALLS, "times the next longer message"
            )
    for figure in figures(machine):
        if figure.value <= 0:
            yield Alarm(figure.words, LIMITS, -math.inf, "is no time, rate or ratio")


def _halves(machine: Machine) -> Iterator[Alarm]:
    """n1/2 is t0 r of a line."""
    for curve in filter(_is_published, machine.models):
        for segment in curve.segments:
            if segment.root_s or not (segment.t0_s > 0 and math.isfinite(segment.r_inf_Bps)):
                continue
            ratio = segment.n_half_bytes / (segment.t0_s * segment.r_inf_Bps)
            if not 1 / ROUNDED < ratio < ROUNDED:
                words = f"{_curve(curve)}, n1/2 from {segment.from_bytes} B"
                yield Alarm(words, LIMITS, ratio, "over t0 r")


def _places(machine: Machine) -> Iterator[Alarm]:
    """A message within a node starts no later than one between nodes."""
    messages = Messages(machine)
    if not messages.ping_pongs:
        return
    within, (_, between) = messages.within_node, messages.between_nodes[0]
    if within != between:
        why = "over the latency between nodes"
        yield from _over(_curve(within), within.time_s(1), between.time_s(1), why)


def _room(machine: Machine) -> Iterator[Alarm]:
    """Ranks of a figure fit onto the machine, or onto one node; two nodes take two."""
    nodes = machine.network.topology.nodes if machine.network else 1
    per_node = ranks_per_node(machine)
    for figure in figures(machine):
        point, words = figure.point, figure.words
        if "over=" in point.axes:
            continue
        is_within = point.placement and place_of(machine, point) != OTHER_NODE
        if is_within and point.pattern not in ("traffic", "aggregate"):
            yield from _over(words, point.ranks, per_node, "over the ranks of a node")
        elif nodes:
            yield from _over(words, point.ranks, nodes * per_node, "over the ranks of the machine")
        if point.placement and place_of(machine, point) == OTHER_NODE and nodes == 1:
            yield Alarm(words, LIMITS, BOTH, "over the nodes of the machine")


def _distances(machine: Machine) -> Iterator[Alarm]:
    """Ranks farther apart are no faster, at one size."""
    points = [point for point in machine.points if point.pattern == "distance" and point.rate_Bps]
    points = sorted((p for p in points if p.size_bytes is None), key=_distance)
    for near, far in pairwise(points):
        rates = far.rate_Bps or 0, near.rate_Bps or math.inf
        yield from _over(f"distance, {far.axes}", *rates, "over the rate of a nearer rank")


def _exchanges(machine: Machine) -> Iterator[Alarm]:
    """Two messages at once take no less than one of them, and no more than one after the other."""
    for figure in figures(machine):
        point = figure.point
        if point.pattern != "exchange" or figure.unit != "time_s":
            continue
        alone_s = Messages(machine).curve.time_s(point.size_bytes or 0)
        why = "over two messages one after the other"
        yield from _over(figure.words, figure.value, BOTH * FALLS * alone_s, why)
        yield from _over(figure.words, alone_s / figure.value, EARLY, "messages over an exchange")


def _b_eff(machine: Machine) -> Iterator[Alarm]:
    """All ranks move no more than each does both ways, means no more than what they are of.

    L_max is one for all figures of a study.
    """
    points = [point for point in machine.points if point.pattern == "b_eff"]
    if not points:
        return
    rates = {parse_axes(p.axes)["figure"]: p.rate_Bps for p in points if p.rate_Bps}
    ratio = next((ends(s.both_ways_ratio)[1] for s in machine.shared if s.both_ways_ratio), BOTH)
    segments = [segment for curve in machine.models for segment in curve.segments]
    rank_Bps = ratio * max(s.r_inf_Bps for s in segments if math.isfinite(s.r_inf_Bps))
    for name in NAMES[:3]:
        most_Bps = points[0].ranks * rank_Bps
        words = f"b_eff, figure={name}"
        if name in rates:
            yield from _over(words, rates[name], most_Bps, "over what its ranks move both ways")
    for less, more in pairwise(NAMES[:3]):
        if less in rates and more in rates:
            yield from _over(f"b_eff, figure={less}", rates[less], rates[more], f"over {more}")
    longest = {point.size_bytes for point in points if point.rate_Bps}
    of_study = {
        point.size_bytes or 0
        for name in catalogue.names()
        if name != machine.name.partition(" (")[0]
        for point in catalogue.machine(name).points
        if point.pattern == "b_eff" and point.source == points[0].source and point.rate_Bps
    }
    for size_bytes in (longest - of_study) if of_study else ():
        ratio = (size_bytes or math.nan) / max(of_study)
        yield Alarm("b_eff, L_max", LIMITS, ratio, "over that of the study's other machines")


def _clock(machine: Machine) -> Iterator[Alarm]:
    """Operations per cycle of one core."""
    computing = machine.computing
    if computing and computing.clock_hz and computing.flops_per_s:
        low, high = FLOPS_PER_CYCLE
        per_cycle = computing.flops_per_s / computing.clock_hz
        if not low <= per_cycle <= high:
            yield Alarm("clock", LIMITS, per_cycle, "floating-point operations in a cycle")


def _is_published(curve: FittedModel) -> bool:
    return not curve.run and bool(curve.segments)


def _curve(curve: FittedModel) -> str:
    return ", ".join(filter(None, (curve.pattern, curve.axes, curve.placement)))


def _distance(point: PublishedPoint) -> int:
    return int(parse_axes(point.axes)["distance"])
