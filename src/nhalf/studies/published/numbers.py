"""What a study says of a number: a point of a machine of record, else its formula."""

from collections.abc import Callable
from dataclasses import replace

from nhalf.base.errors import InputError
from nhalf.decide.traffic import published_Bps
from nhalf.decide.ways import COMPLETION
from nhalf.machines import catalogue
from nhalf.machines.curve import PINGPONG
from nhalf.machines.machine import Machine, PublishedPoint
from nhalf.machines.published_times import NAMES
from nhalf.studies.form import Quantity, StudyPoint
from nhalf.studies.recorded import (
    B_EFF,
    LOGP,
    PLACES,
    PUBLISHED,
    TRAFFIC,
    RecordedMachine,
    b_eff_point,
    is_at,
    loggp_value,
    rule_of,
)
from nhalf.studies.value import StudyValue

PATTERNS = {
    (PINGPONG, "time"): "latency",
    ("exchange", "throughput"): "bidirectional",
    ("pairs-bandwidth", "throughput"): "aggregate",
}
"""Patterns of numbers that have another name in records."""
NODE = "node"
"""The pattern of points that are numbers of a node: `axes` names the figure."""
RATIOS = ("ratio", "share", "cycles")
"""Units of the numbers of points that are neither times nor rates."""
LAYERS = {
    (PINGPONG, "tcp", ""): "sockets",
    ("am-short", "am", ""): "active-message",
    ("am-long", "am", ""): "active-message-crossover",
    ("am-long", "am", "copy=bulk-each"): "dma-queue",
}
"""Patterns of layers below MPI, by pattern, transport and axes, as records name them."""
AXES = {"step": "primitive"}
"""Axes that have another name in records."""
ALGORITHMS = {name: theirs for theirs, name in NAMES.items()}
"""Algorithms that have another name in records."""
ANY_PAIRS = ("aggregate", "pairs-latency")
"""Patterns of all pairs, or of many: records say no number of them."""
SHORT_BYTES, LONG_BYTES = 64, 1 << 16
"""A time of no size is that of a message up to SHORT_BYTES, a rate that of one from LONG_BYTES;
steps in the life of a segment are of any."""


def published(records: RecordedMachine, quantity: Quantity) -> StudyValue | None:
    """What a study says of a number: a point, else its formula; None if it says nothing."""
    try:
        return _published(records, quantity)
    except InputError:
        return None


def _published(records: RecordedMachine, quantity: Quantity) -> StudyValue | None:
    layer = None if quantity.predicted else _of_layer(records, quantity)
    if layer is not None:
        return layer
    machine = records.machine(quantity.transport)
    if quantity.predicted:
        return None
    if quantity.node:
        subject = (NODE, f"figure={quantity.node}")
        point = next((p for p in machine.points if (p.pattern, p.axes) == subject), None)
        if point is not None and point.ratio is not None:
            return StudyValue(point.ratio, origin=PUBLISHED)
        value = records.value(quantity)
        return value if value.origin == PUBLISHED else None
    if quantity.pattern in RESULTS:
        return RESULTS[quantity.pattern](machine, quantity)
    return _of_point(machine, quantity) or _of_formula(records, machine, quantity)


def _traffic(machine: Machine, quantity: Quantity) -> StudyValue:
    """The rate of a destination rule; raises InputError if none is published."""
    rates_Bps = published_Bps(machine, rule_of(quantity), quantity.ranks)
    place = PLACES.get(quantity.placement, "")
    if place not in rates_Bps:
        raise InputError(f"{rule_of(quantity)} traffic is not published of {machine.name}")
    return StudyValue(rates_Bps[place], ranks=quantity.ranks, origin=PUBLISHED)


RESULTS: dict[str, Callable[[Machine, Quantity], StudyValue]] = {
    TRAFFIC: _traffic,
    LOGP: loggp_value,
}
"""What is published otherwise than as a point or a formula."""


def _of_layer(records: RecordedMachine, quantity: Quantity) -> StudyValue | None:
    """The number of a point below MPI; None if there is none."""
    name = LAYERS.get((quantity.pattern, quantity.transport, _axes(quantity)))
    for point in records.points(name) if name else ():
        number = _number_of(point, quantity)
        is_asked = quantity.figure == "crossover" or _is_of_size(point, quantity)
        if number is not None and is_asked:
            return StudyValue(number, ranks=point.ranks, origin=PUBLISHED)
    return None


def _of_point(machine: Machine, quantity: Quantity) -> StudyValue | None:
    point = _point(machine, quantity)
    if point is None:
        return None
    ranks = quantity.ranks if point.pattern in ANY_PAIRS else point.ranks
    return StudyValue(_number(point, quantity), ranks=ranks, origin=PUBLISHED)


def _of_formula(
    records: RecordedMachine, machine: Machine, quantity: Quantity
) -> StudyValue | None:
    """The time, or rate, of a published formula; None if there is none."""
    if quantity.extra or quantity.axes:
        return None
    if quantity.pattern == PINGPONG and not quantity.phase:
        return replace(records.value(quantity), origin=PUBLISHED)
    return _by_formula(machine, quantity)


def _by_formula(machine: Machine, quantity: Quantity) -> StudyValue | None:
    """The time, or rate, of a formula of many ranks."""
    size, ranks = quantity.size_bytes, quantity.ranks
    if ranks > (machine.ranks_max or ranks):
        return None
    for model in sorted(machine.patterns, key=lambda model: model.timing != COMPLETION):
        is_asked = model.pattern == quantity.pattern and model.covers(size, ranks)
        if is_asked and (model.algorithm or "native") == quantity.algorithm:
            time = StudyValue(model.time_s(size, ranks), ranks=ranks, origin=PUBLISHED)
            return time.inverse(size) if quantity.figure == "rate" else time
    return None


def published_point(of: StudyPoint) -> float:
    """The number of a published point; raises InputError if the record has no such point."""
    for point in catalogue.machine(of.machine).points:
        place = (point.pattern, point.ranks, point.size_bytes, point.axes)
        if place == (of.pattern, of.ranks, of.size_bytes, of.axes):
            return next(n for n in (point.ratio, point.rate_Bps, point.time_s) if n is not None)
    raise InputError(f"{of.machine} has no published {of.pattern} {of.axes}".rstrip())


def _point(machine: Machine, quantity: Quantity) -> PublishedPoint | None:
    """The published point that is asked for; one of its own size before one of no size."""
    if quantity.pattern == B_EFF:
        return b_eff_point(machine, quantity)
    if quantity.phase:
        return None
    matching = [point for point in machine.points if _matches(point, quantity)]
    return min(matching, key=lambda point: point.size_bytes is None, default=None)


def _matches(point: PublishedPoint, quantity: Quantity) -> bool:
    """Whether a point is of the pattern, the size, the ranks and the place, and has the figure."""
    names = {quantity.pattern, PATTERNS.get((quantity.pattern, quantity.figure))}
    if point.pattern not in names or not is_at(point.placement, quantity):
        return False
    if not (point.pattern in ANY_PAIRS or point.axes == _axes(quantity)):
        return False
    if quantity.figure == "throughput" and point.pattern == "exchange":
        return False
    is_of_ranks = point.ranks == quantity.ranks or point.pattern == "pairs-latency"
    number = _number_of(point, quantity)
    return is_of_ranks and number is not None and _is_of_size(point, quantity)


def _is_of_size(point: PublishedPoint, quantity: Quantity) -> bool:
    if point.size_bytes is not None:
        return point.size_bytes == quantity.size_bytes
    if point.pattern == "primitive":
        return True
    if quantity.unit == "Bps":
        return quantity.size_bytes >= LONG_BYTES
    return quantity.size_bytes <= SHORT_BYTES


def _axes(quantity: Quantity) -> str:
    """The axes of a number as records write them, with what it is beside a time."""
    values = {AXES.get(name, name): text for name, text in quantity.axes.items()}
    if quantity.algorithm != "native":
        values["algorithm"] = ALGORITHMS.get(quantity.algorithm, quantity.algorithm)
    if quantity.extra:
        values["extra"] = quantity.extra
    return ",".join(f"{name}={values[name]}" for name in sorted(values))


def _number_of(point: PublishedPoint, quantity: Quantity) -> float | None:
    """The number of a point with the unit that is asked for."""
    size = None if point.size_bytes is None else float(point.size_bytes)
    ratios = dict.fromkeys(RATIOS, point.ratio)
    by_unit = {"s": point.time_s, "Bps": point.rate_Bps, "bytes": size, **ratios}
    return by_unit.get(quantity.unit)


def _number(point: PublishedPoint, quantity: Quantity) -> float:
    number = _number_of(point, quantity)
    if number is None:
        raise InputError(f"{point.pattern} has no published {quantity.figure}")
    return number / point.ranks if quantity.figure == "per-process" else number
