# SPDX-License-Identifier: Apache-2.0
"""Numbers of a machine of record: predicted from its messages, or as they were published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.decide.b_eff import predict_b_eff
from nhalf.decide.predict import predict
from nhalf.decide.studies.form import Point, Quantity
from nhalf.decide.studies.phases import PAIRS, Pairs, at_phase, phase_numbers
from nhalf.decide.studies.value import Value
from nhalf.decide.ways import COMPLETION, UNSIZED
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.curve import PINGPONG, time_at_s
from nhalf.machines.draws import Draws, PredictedRate
from nhalf.machines.machine import FittedModel, Machine, PublishedPoint, Segment
from nhalf.machines.message import Messages
from nhalf.machines.together import ConcurrentMessages

PUBLISHED = "published"
B_EFF, PINGPING, DISTANCE = "b_eff", "pingping", "distance"
PARAMETERS: dict[str, Callable[[Segment], float]] = {
    "t0": lambda segment: segment.t0_s,
    "r-inf": lambda segment: segment.r_inf_Bps,
    "n-half": lambda segment: segment.n_half_bytes,
}


class Recorded:
    """The predictions of a machine, of which there is a record for each transport."""

    needs_intervals = False

    def __init__(self, name: str, groups: Sequence[Sequence[str]] = ()) -> None:
        self.name = name
        (records,) = [group for group in groups if name in group] or [[name]]
        self._machines = [catalogue.machine(record) for record in [name, *records]]

    def machine(self, transport: str) -> Machine:
        """The record of a transport; raises InputError if there is none."""
        for machine in self._machines:
            if not transport or transport in {curve.transport for curve in machine.models}:
                return machine
        raise InputError(f"no messages by {transport} are published of {self.name}")

    def value(self, quantity: Quantity) -> Value:
        """A number, predicted; raises InputError if nothing tells it."""
        machine = self.machine(quantity.transport)
        if quantity.figure == "error":
            raise InputError(f"the record of {machine.name} has formulas, and no measured times")
        if quantity.pattern == B_EFF:
            return _b_eff(machine, quantity)
        if quantity.figure in PARAMETERS:
            segment = _segment(Messages(machine).within_node, quantity.size_bytes)
            return Value(PARAMETERS[quantity.figure](segment))
        time = _time(machine, quantity)
        return time.inverse(quantity.size_bytes) if quantity.figure == "rate" else time


def published(records: Recorded, quantity: Quantity) -> Value | None:
    """What a study says of a number: a point, else its formula; None if it says nothing."""
    try:
        machine = records.machine(quantity.transport)
        point = _point(machine, quantity)
        if point is not None:
            return Value(_number(point, quantity), ranks=point.ranks, origin=PUBLISHED)
        if quantity.pattern == PINGPONG and not quantity.phase:
            return replace(records.value(quantity), origin=PUBLISHED)
    except InputError:
        return None
    size, ranks = quantity.size_bytes, quantity.ranks
    if ranks > (machine.ranks_max or ranks):
        return None
    for model in sorted(machine.patterns, key=lambda model: model.timing != COMPLETION):
        is_asked = model.pattern == quantity.pattern and model.covers(size, ranks)
        if is_asked and (model.algorithm or "native") == quantity.algorithm:
            time = Value(model.time_s(size, ranks), ranks=ranks, origin=PUBLISHED)
            return time.inverse(size) if quantity.figure == "rate" else time
    return None


def published_point(of: Point) -> float:
    """The number of a published point; raises InputError if the record has no such point."""
    for point in catalogue.machine(of.machine).points:
        place = (point.pattern, point.ranks, point.size_bytes, point.axes)
        if place == (of.pattern, of.ranks, of.size_bytes, of.axes):
            return next(n for n in (point.ratio, point.rate_Bps, point.time_s) if n is not None)
    raise InputError(f"{of.machine} has no published {of.pattern} {of.axes}".rstrip())


def _point(machine: Machine, quantity: Quantity) -> PublishedPoint | None:
    """The published point that is asked for."""
    name = "b_eff" if quantity.figure == "per-process" else quantity.figure
    for point in machine.points:
        if point.pattern != quantity.pattern:
            continue
        if quantity.pattern == B_EFF:
            axis = "latency" if name == "time" else name
            if point.axes == f"figure={axis}":
                return point
        elif not point.axes and not quantity.phase and _matches(point, quantity):
            return point
    return None


def _matches(point: PublishedPoint, quantity: Quantity) -> bool:
    """Whether a point is of the size and the ranks, and has the figure."""
    is_there = (point.size_bytes or 0, point.ranks) == (quantity.size_bytes, quantity.ranks)
    number = point.time_s if quantity.figure == "time" else point.rate_Bps
    return is_there and number is not None


def _number(point: PublishedPoint, quantity: Quantity) -> float:
    """The number of a point that is asked for."""
    number = point.time_s if quantity.unit == "s" else point.rate_Bps
    if number is None:
        raise InputError(f"{point.pattern} has no published {quantity.figure}")
    return number / point.ranks if quantity.figure == "per-process" else number


def _b_eff(machine: Machine, quantity: Quantity) -> Value:
    """A figure of the effective bandwidth, of as many ranks as were published."""
    point = _point(machine, quantity)
    ranks = point.ranks if point else quantity.ranks
    if quantity.figure == "time":
        curve = Messages(machine).within_node
        return Value(time_at_s(curve, 0), ranks=ranks)
    name = "b_eff" if quantity.figure == "per-process" else quantity.figure
    rate = _b_eff_figures(machine.name, ranks)[name]
    value = Value(rate.middle_Bps, (rate.low, rate.high), ranks)
    return value.scaled(1 / ranks) if quantity.figure == "per-process" else value


@cache
def _b_eff_figures(name: str, ranks: int) -> dict[str, PredictedRate]:
    return predict_b_eff(catalogue.machine(name), ranks).figures


def _segment(curve: FittedModel, size_bytes: int) -> Segment:
    """The segment of a curve that holds a size; raises InputError if none does."""
    for segment in curve.segments:
        if segment.from_bytes <= size_bytes <= segment.to_bytes:
            return segment
    raise InputError(f"no model covers {size_bytes} B")


def _time(machine: Machine, quantity: Quantity) -> Value:
    """The time of a pattern."""
    size, messages = quantity.size_bytes, Messages(machine)
    if quantity.phase and quantity.pattern == DISTANCE:
        curves = [messages.within_node, *(curve for _, curve in messages.between_nodes)]
        times = {number: time_at_s(curve, size) for number, curve in enumerate(curves)}
        return Value(at_phase(times, quantity.phase))
    if quantity.phase:
        return _phases(machine, quantity)
    if quantity.pattern == PINGPONG:
        return Value(time_at_s(messages.within_node, size))
    if quantity.pattern == PINGPING:
        return Value.of_draws(_drawn_times(machine, [(0, 1), (1, 0)], size), 2)
    return _predicted(machine, quantity)


def _predicted(machine: Machine, quantity: Quantity) -> Value:
    """The time of an operation of many ranks; raises InputError if it is not made of messages."""
    ranks, operations = quantity.ranks, algorithms()
    size = 0 if quantity.pattern in UNSIZED else quantity.size_bytes
    prediction = predict(quantity.pattern, machine, [ranks], [size], operations)
    if prediction.caveat:
        raise InputError(f"predictions are {prediction.caveat}")
    names = [way.algorithm for way in prediction.ways]
    if quantity.algorithm in names:
        cell = (names.index(quantity.algorithm), 0, 0)
        return Value(float(prediction.time_s[cell]), prediction.intervals_s.get(cell), ranks)
    if quantity.algorithm != "native":
        raise InputError(f"{machine.name} has no {quantity.pattern}/{quantity.algorithm}")
    return Value(float(np.nanmin(prediction.time_s)), ranks=ranks)


def _phases(machine: Machine, quantity: Quantity) -> Value:
    """The time of a phase, from the messages that go at once in it."""
    if quantity.pattern not in PAIRS:
        raise InputError(f"the phases of {quantity.pattern} are not predicted")
    ranks = min(quantity.ranks, machine.ranks_max or quantity.ranks)
    times = _phase_times(machine.name, quantity.pattern, ranks, quantity.size_bytes)
    draws = zip(*times.values(), strict=True)
    drawn = [at_phase(dict(zip(times, draw, strict=True)), quantity.phase) for draw in draws]
    return Value.of_draws(np.array(drawn), ranks)


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
    sizes = np.full((draws.count, 1), float(size_bytes))
    return together.time_s(pairs, sizes)[:, 0]
