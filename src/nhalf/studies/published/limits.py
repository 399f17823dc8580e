"""What no figure can be, whatever engines say of it: more than links carry, ranks without room.

Limits have the tolerance that published figures of record need: rounded rates are up to 1 % more
than the link they pass, and a range of sizes begins up to 10 % before the one before it ends.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from nhalf.decide.b_eff import NAMES
from nhalf.machines import catalogue
from nhalf.machines.curve import OTHER_NODE, is_between_nodes
from nhalf.machines.exchanges import EXCHANGE
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.shared import ends
from nhalf.machines.wires import ranks_per_node
from nhalf.store.keys import parse_axes
from nhalf.studies.published.figures import figures, place_of

LIMITS = "limits"
"""Who says so, in the place of an engine."""
ROUNDED = 1.01
FALLS = 1.1
EARLY = 1.35
"""An exchange of short messages may take less than one of them, by this factor."""
BOTH = 2.0
LEAST_S = 1e-12
FLOPS_PER_CYCLE = (0.5, 32)


class Alarm(NamedTuple):
    """A figure that does not fit: which, who says so, how far it is away, and from what."""

    figure: str
    engine: str
    ratio: float
    why: str


def beyond_limits(machine: Machine) -> list[Alarm]:
    """The figures of a machine that cannot be, each with how many times its limit it is."""
    checks = (_curves, _values, _exchanges, _b_eff, _clock)
    return [alarm for check in checks for alarm in check(machine)]


def _over(figure: str, value: float, limit: float, why: str) -> Iterator[Alarm]:
    if value > limit * ROUNDED:
        yield Alarm(figure, LIMITS, value / limit, why)


def _curves(machine: Machine) -> Iterator[Alarm]:
    """A message is no faster than a link, and within a node it starts no later than between them.

    A longer one takes no less time, and n1/2 of a line is t0 r.
    """
    messages, way_Bps = Messages(machine), _way_Bps(machine)
    for curve in (curve for curve in messages.ping_pongs if not curve.run):
        words = ", ".join(filter(None, (curve.pattern, curve.axes, curve.placement)))
        for before, after in pairwise(curve.segments):
            longer_s = max(after.time_s(after.from_bytes), LEAST_S)
            ratio = before.time_s(before.to_bytes) / longer_s
            range_words = f"{words}, from {after.from_bytes} B"
            yield from _over(range_words, ratio, FALLS, "times the next longer message")
        for segment in curve.segments:
            if segment.root_s or not (segment.t0_s > 0 and math.isfinite(segment.r_inf_Bps)):
                continue
            # Between two points of a table the protocol may change: whole messages count.
            whole_Bps = segment.to_bytes / segment.time_s(segment.to_bytes)
            rate_Bps = whole_Bps if curve.is_table else segment.r_inf_Bps
            if is_between_nodes(curve.placement):
                yield from _over(words, rate_Bps, way_Bps, "times the rate of a link")
            ratio = segment.n_half_bytes / (segment.t0_s * segment.r_inf_Bps)
            if not 1 / ROUNDED < ratio < ROUNDED:
                yield Alarm(
                    f"{words}, n1/2 from {segment.from_bytes} B", LIMITS, ratio, "times t0 r"
                )
        if not is_between_nodes(curve.placement):
            far = messages.between_nodes[0][1]
            shortest = max(1, curve.end_bytes[0], far.end_bytes[0])
            times_s = curve.time_s(shortest), far.time_s(shortest)
            yield from _over(words, *times_s, "times the latency between nodes")


def _way_Bps(machine: Machine) -> float:
    """What a node sends at most; infinite where that is unknown."""
    network = machine.network
    rates = (network.bandwidth_Bps, network.adapter_Bps) if network else ()
    return min((rate_Bps for rate_Bps in rates if rate_Bps), default=math.inf)


def _values(machine: Machine) -> Iterator[Alarm]:
    """Figures are positive, their ranks have room, and all nodes send no more than each of them."""
    nodes = (machine.network.topology.nodes if machine.network else 0) or math.inf
    per_node = ranks_per_node(machine)
    for figure in figures(machine):
        point, words = figure.point, figure.words
        is_joint = point.pattern in ("traffic", "aggregate")
        is_apart = place_of(machine, point) == OTHER_NODE
        if figure.value <= 0:
            yield Alarm(words, LIMITS, -math.inf, "is not a positive number")
        if "over=" in point.axes:
            continue
        if point.placement and not is_apart and not is_joint:
            yield from _over(words, point.ranks, per_node, "times the ranks of a node")
        yield from _over(words, point.ranks, nodes * per_node, "times the ranks of the machine")
        if is_joint and is_apart:
            yield from _over(words, figure.value, nodes * _way_Bps(machine), "times all links")


def _exchanges(machine: Machine) -> Iterator[Alarm]:
    """Two messages at once take no less than one of them, and no more than one after the other."""
    for figure in figures(machine):
        point = figure.point
        if point.pattern != EXCHANGE or figure.unit != "time_s" or figure.value <= 0:
            continue
        alone_s = Messages(machine).curve.time_s(point.size_bytes or 0)
        why = "times two messages one after the other"
        yield from _over(figure.words, figure.value, BOTH * FALLS * alone_s, why)
        yield from _over(figure.words, alone_s / figure.value, EARLY, "messages in an exchange")


def _b_eff(machine: Machine) -> Iterator[Alarm]:
    """All ranks move no more than each does both ways, means no more than what they are of.

    L_max is one for all figures of a study.
    """
    points = [point for point in machine.points if point.pattern == "b_eff"]
    if not points:
        return
    rates = {parse_axes(p.axes).get("figure", ""): p.rate_Bps for p in points if p.rate_Bps}
    ratio = next((ends(s.both_ways_ratio)[1] for s in machine.shared if s.both_ways_ratio), BOTH)
    segments = [segment for curve in machine.models for segment in curve.segments]
    finite_Bps = (s.r_inf_Bps for s in segments if math.isfinite(s.r_inf_Bps))
    rank_Bps = ratio * max(finite_Bps, default=math.inf)
    for name in NAMES[:3]:
        most_Bps = points[0].ranks * rank_Bps
        words = f"b_eff, figure={name}"
        if name in rates:
            yield from _over(words, rates[name], most_Bps, "times what its ranks move both ways")
    for less, more in pairwise(NAMES[:3]):
        if less in rates and more in rates:
            yield from _over(f"b_eff, figure={less}", rates[less], rates[more], f"times {more}")
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
        yield Alarm("b_eff, L_max", LIMITS, ratio, "times that of the study's other machines")


def _clock(machine: Machine) -> Iterator[Alarm]:
    """Operations per cycle of one core."""
    computing = machine.computing
    if computing and computing.clock_hz and computing.flops_per_s:
        low, high = FLOPS_PER_CYCLE
        per_cycle = computing.flops_per_s / computing.clock_hz
        if not low <= per_cycle <= high:
            yield Alarm("clock", LIMITS, per_cycle, "floating-point operations in a cycle")
