"""Numbers of a machine of record: predicted from its messages, or as they were published."""

import math
from collections.abc import Callable, Sequence
from functools import cache

import msgspec
import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.decide.b_eff import predict_b_eff
from nhalf.decide.predict import predict
from nhalf.decide.traffic import ALL, UNIFORM, predict_traffic
from nhalf.decide.traffic import PLACES as PLACES_IN_WORDS
from nhalf.decide.ways import UNSIZED
from nhalf.facts.multicast import PATTERN as MULTICAST
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.curve import PINGPONG, is_between_nodes
from nhalf.machines.draws import Draws, PredictedRate
from nhalf.machines.layout import Layout
from nhalf.machines.machine import FittedModel, LogGP, Machine, PublishedPoint, Segment
from nhalf.machines.message import Messages
from nhalf.machines.spread import SAME_NODE, placed
from nhalf.machines.together import ConcurrentMessages
from nhalf.studies.counted import counted, is_counted
from nhalf.studies.form import ROOT, Quantity
from nhalf.studies.multicasts import multicast_value
from nhalf.studies.node_figures import NODE_FIGURES
from nhalf.studies.phases import PAIRS, Pairs, at_phase, phase_numbers
from nhalf.studies.value import StudyValue

PUBLISHED = "published"
B_EFF, LOGP, TRAFFIC = "b_eff", "logp", "traffic"
PINGPING, EXCHANGE, DISTANCE = "pingping", "exchange", "distance"
MESSAGES_PER_TIME = {PINGPONG: 1, PINGPING: 1, EXCHANGE: 2}
"""How many messages move in the time of a pattern."""
ROOT_SENDS: dict[str, Callable[[int], int]] = {
    "linear": lambda ranks: ranks - 1,
    "binomial": lambda ranks: (ranks - 1).bit_length(),
    "binary": lambda ranks: min(2, ranks - 1),
}
"""How many messages the root of a broadcast sends, by algorithm."""
PLACES = {words: place for place, words in PLACES_IN_WORDS.items()}
"""The placements of records."""
PARAMETERS: dict[str, Callable[[Segment], float]] = {
    "t0": lambda segment: segment.t0_s,
    "r-inf": lambda segment: segment.r_inf_Bps,
    "n-half": lambda segment: segment.n_half_bytes,
}


def parameter(segment: Segment, figure: str) -> float:
    """A parameter of messages of a range of sizes; raises InputError if their time has none."""
    number = PARAMETERS[figure](segment)
    if not (number > 0 and math.isfinite(number)) or segment.root_s:
        raise InputError(f"the times of these sizes do not tell {figure}")
    return number


class RecordedMachine:
    """The predictions of a machine, of which there is a record for each transport."""

    needs_intervals = False

    def __init__(self, name: str, groups: Sequence[Sequence[str]] = ()) -> None:
        self.name = name
        (records,) = [group for group in groups if name in group] or [[name]]
        self._machines = [catalogue.machine(record) for record in [name, *records]]

    def points(self, pattern: str) -> list[PublishedPoint]:
        """The published points of a pattern, of all its records."""
        return [
            point
            for record in self._machines
            for point in record.points
            if point.pattern == pattern
        ]

    def machine(self, transport: str) -> Machine:
        """The record of a transport; raises InputError if there is none."""
        for machine in self._machines:
            if not transport or transport in {curve.transport for curve in machine.models}:
                return machine
        raise InputError(f"no messages by {transport} are published of {self.name}")

    def value(self, quantity: Quantity) -> StudyValue:
        """A number, predicted; raises InputError if nothing tells it."""
        machine = self.machine(quantity.transport)
        if quantity.node:
            return NODE_FIGURES[quantity.node].recorded(machine)
        if quantity.pattern == MULTICAST:
            return multicast_value(machine, quantity)
        if quantity.extra:
            return _extra(machine, quantity)
        if quantity.pattern in RESULTS:
            return RESULTS[quantity.pattern](machine, quantity)
        if quantity.figure == "error":
            raise InputError(f"the record of {machine.name} has formulas, and no measured times")
        if quantity.figure in PARAMETERS:
            segment = _segment(_curve(machine, quantity), quantity.size_bytes)
            return StudyValue(parameter(segment, quantity.figure))
        return _of_figure(_time(machine, quantity), quantity)


def _of_figure(time: StudyValue, quantity: Quantity) -> StudyValue:
    """A time, or the rate that it means; raises InputError for a throughput without pairs."""
    if quantity.figure not in ("rate", "throughput"):
        return time
    messages = 1 if quantity.figure == "rate" else MESSAGES_PER_TIME.get(quantity.pattern)
    if messages is None:
        raise InputError(f"the throughput of {quantity.pattern} is not predicted")
    return time.inverse(messages * quantity.size_bytes)


def is_at(placement: str, quantity: Quantity) -> bool:
    """Whether a placement of a record is where a number is asked for."""
    return not quantity.placement or placement == PLACES[quantity.placement]


def rule_of(quantity: Quantity) -> str:
    """The destination rule of traffic as predictions name it.

    Raises InputError for axes of which neither they nor records say anything.
    """
    if further := sorted(quantity.axes.keys() - {"to", "distance"}):
        raise InputError(f"what {further[0]} does to traffic is not predicted")
    to = str(quantity.axes.get("to", UNIFORM))
    return f"{to}{ALL}" if quantity.axes.get("distance") == "all" else to


def loggp_value(machine: Machine, quantity: Quantity) -> StudyValue:
    """A parameter of the LogP family as it was published.

    Raises InputError if no set of parameters of the record has it.
    """
    for parameters in machine.loggp:
        number = _of_loggp(parameters, quantity.figure)
        if number is not None and is_at(parameters.placement, quantity):
            return StudyValue(number, origin=PUBLISHED)
    raise InputError(f"{quantity.figure} is not published of {machine.name}")


def _of_loggp(parameters: LogGP, figure: str) -> float | None:
    """A parameter; None if it is not known."""
    send_s, recv_s = parameters.send_overhead_s, parameters.recv_overhead_s
    half_s = parameters.half_round_trip_s
    both_s = None if send_s is None or recv_s is None else send_s + recv_s
    numbers = {
        "L": parameters.latency_s,
        "o_s": send_s,
        "o_r": recv_s,
        "o": both_s and both_s / 2,
        "g": parameters.gap_s,
        "G": parameters.gap_per_byte_s,
        "half-round-trip": half_s,
        "busy-share": both_s and half_s and both_s / half_s,
    }
    return numbers[figure]


def _loggp(machine: Machine, quantity: Quantity) -> StudyValue:
    """A parameter; half a round trip as the sum of its parts, all of one set."""
    if quantity.figure != "half-round-trip":
        return loggp_value(machine, quantity)
    for parameters in machine.loggp:
        latency_s, overhead_s = (_of_loggp(parameters, name) for name in ("L", "o"))
        if latency_s is not None and overhead_s is not None:
            return StudyValue(latency_s + 2 * overhead_s)
    raise InputError(f"L and the overheads are not published together of {machine.name}")


def _extra(machine: Machine, quantity: Quantity) -> StudyValue:
    """What is counted, or how long the root of a broadcast is busy: with its sends, one after the
    other (LogGP).
    """
    if is_counted(quantity):
        return counted(quantity)
    sends = ROOT_SENDS.get(quantity.algorithm)
    if (quantity.extra, quantity.pattern) != (ROOT, "bcast") or sends is None:
        raise InputError(f"{quantity.extra} of {quantity.pattern} is not predicted")
    overhead_s, gap_s = (
        loggp_value(machine, Quantity(pattern=LOGP, figure=figure)).median
        for figure in ("o_s", "g")
    )
    segment = _segment(Messages(machine).curve, quantity.size_bytes)
    apart_s = max(overhead_s, gap_s + quantity.size_bytes / segment.r_inf_Bps)
    return StudyValue((sends(quantity.ranks) - 1) * apart_s + overhead_s, ranks=quantity.ranks)


def _traffic(machine: Machine, quantity: Quantity) -> StudyValue:
    """What traffic without pauses moves between nodes or within them."""
    nodes = machine.network.topology.nodes if machine.network else 1
    hosts = min(nodes or 1, quantity.ranks)
    layout = Layout(hosts, quantity.ranks // hosts, quantity.mapping == "cyclic")
    if layout.ranks != quantity.ranks:
        raise InputError(f"{quantity.ranks} ranks do not fill {hosts} nodes evenly")
    predicted = predict_traffic(machine, [rule_of(quantity)], layout, quantity.size_bytes)
    for row in predicted.rows:
        if is_at(row.place, quantity):
            return StudyValue.of_draws(row.drawn_Bps, quantity.ranks)
    raise InputError(f"none of {rule_of(quantity)} traffic is {quantity.placement}")


def b_eff_point(machine: Machine, quantity: Quantity) -> PublishedPoint | None:
    """The published figure of the effective bandwidth that is asked for."""
    name = "b_eff" if quantity.figure == "per-process" else quantity.figure
    axes = f"figure={'latency' if name == 'time' else name}"
    points = (point for point in machine.points if point.pattern == B_EFF)
    return next((point for point in points if point.axes == axes), None)


def _b_eff(machine: Machine, quantity: Quantity) -> StudyValue:
    """A figure of the effective bandwidth, of as many ranks as were published."""
    point = b_eff_point(machine, quantity)
    ranks = point.ranks if point else quantity.ranks
    if quantity.figure == "time":
        return StudyValue(Messages(machine).within_node.time_s(0), ranks=ranks)
    name = "b_eff" if quantity.figure == "per-process" else quantity.figure
    rate = _b_eff_figures(machine.name, ranks)[name]
    value = StudyValue(rate.middle_Bps, (rate.low, rate.high), ranks)
    return value.scaled(1 / ranks) if quantity.figure == "per-process" else value


@cache
def _b_eff_figures(name: str, ranks: int) -> dict[str, PredictedRate]:
    return predict_b_eff(catalogue.machine(name), ranks).figures


RESULTS: dict[str, Callable[[Machine, Quantity], StudyValue]] = {
    B_EFF: _b_eff,
    LOGP: _loggp,
    TRAFFIC: _traffic,
}
"""What is computed from much more than one time."""


def _segment(curve: FittedModel, size_bytes: int) -> Segment:
    """The segment of a curve that holds a size; raises InputError if none does."""
    for segment in curve.segments:
        if segment.from_bytes <= size_bytes <= segment.to_bytes:
            return segment
    raise InputError(f"no model covers {size_bytes} B")


def _curve(machine: Machine, quantity: Quantity) -> FittedModel:
    """The curve of a message where it is asked for, within a node if it is not said.

    Raises InputError if the record has none there.
    """
    messages = Messages(machine)
    if quantity.placement != "off-node":
        curve = messages.within_node
    else:
        _, curve = messages.between_nodes[0]
    if quantity.placement and is_between_nodes(curve.placement) != (
        quantity.placement == "off-node"
    ):
        raise InputError(f"no messages {quantity.placement} are published of {machine.name}")
    return curve


def _time(machine: Machine, quantity: Quantity) -> StudyValue:
    size, messages = quantity.size_bytes, Messages(machine)
    if quantity.phase and quantity.pattern == DISTANCE:
        curves = [messages.within_node, *(curve for _, curve in messages.between_nodes)]
        times = {number: curve.time_s(size) for number, curve in enumerate(curves)}
        return StudyValue(at_phase(times, quantity.phase), origin=PUBLISHED)
    if quantity.phase:
        return _phases(machine, quantity)
    if quantity.pattern == PINGPONG:
        return StudyValue(_curve(machine, quantity).time_s(size))
    has_curve = any(model.pattern == quantity.pattern for model in machine.models)
    if quantity.pattern in (PINGPING, EXCHANGE) and not has_curve:
        _curve(machine, quantity)
        away = machine.node.ranks if machine.node and quantity.placement == "off-node" else 1
        return StudyValue.of_draws(_drawn_times(machine, [(0, away), (away, 0)], size), 2)
    on_node = quantity.placement == "on-node"
    return _predicted(placed(machine, SAME_NODE) if on_node else machine, quantity)


def _predicted(machine: Machine, quantity: Quantity) -> StudyValue:
    """The time of an operation of many ranks; raises InputError if it is not made of messages."""
    ranks, operations = quantity.ranks, algorithms()
    size = 0 if quantity.pattern in UNSIZED else quantity.size_bytes
    if quantity.predicted:
        machine = _without(machine, quantity.pattern)
    prediction = predict(quantity.pattern, machine, [ranks], [size], operations)
    if prediction.caveat:
        raise InputError(f"predictions are {prediction.caveat}")
    names = [way.algorithm for way in prediction.ways]
    if quantity.algorithm in names:
        cell = (names.index(quantity.algorithm), 0, 0)
        time_s = float(prediction.time_s[cell])
        if np.isfinite(time_s):
            return StudyValue(time_s, prediction.intervals_s.get(cell), ranks)
    if quantity.algorithm != "native" or not np.isfinite(prediction.time_s).any():
        raise InputError(f"{machine.name} has no {quantity.pattern}/{quantity.algorithm}")
    return StudyValue(float(np.nanmin(prediction.time_s)), ranks=ranks)


def _without(machine: Machine, pattern: str) -> Machine:
    """A machine of which no time of a pattern is published."""
    points = tuple(point for point in machine.points if point.pattern != pattern)
    models = tuple(model for model in machine.patterns if model.pattern != pattern)
    return msgspec.structs.replace(machine, points=points, patterns=models)


def _phases(machine: Machine, quantity: Quantity) -> StudyValue:
    """The time of a phase, from the messages that go at once in it."""
    if quantity.pattern not in PAIRS:
        raise InputError(f"the phases of {quantity.pattern} are not predicted")
    ranks = min(quantity.ranks, machine.ranks_max or quantity.ranks)
    times = _phase_times(machine.name, quantity.pattern, ranks, quantity.size_bytes)
    draws = zip(*times.values(), strict=True)
    drawn = [at_phase(dict(zip(times, draw, strict=True)), quantity.phase) for draw in draws]
    return StudyValue.of_draws(np.array(drawn), ranks)


@cache
def _phase_times(name: str, pattern: str, ranks: int, size_bytes: int) -> dict[int, Floats]:
    machine = catalogue.machine(name)
    return {
        phase: _drawn_times(machine, PAIRS[pattern](ranks, phase), size_bytes)
        for phase in phase_numbers(pattern, ranks)
    }


def _drawn_times(machine: Machine, pairs: Pairs, size_bytes: int) -> Floats:
    """The time of messages at once, of each draw of what is unpublished."""
    draws = Draws()
    per_node = machine.node.ranks if machine.node else 1
    together = ConcurrentMessages(Messages(machine), draws, per_node)
    return together.time_s(pairs, np.full((draws.count, 1), float(size_bytes)))[:, 0]
