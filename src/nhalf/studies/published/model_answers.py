"""The cells in which engines answer a published figure; what the model answers without it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE
from nhalf.decide.b_eff import drawn_b_eff
from nhalf.decide.traffic import predict_traffic
from nhalf.decide.way import Way
from nhalf.decide.ways import FOLLOWED, known_ways
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.curve import OTHER_NODE, PINGPONG
from nhalf.machines.draws import Draws
from nhalf.machines.exchanges import EXCHANGE, PAIR
from nhalf.machines.layout import CYCLIC, parse_layout
from nhalf.machines.machine import Machine, PublishedPoint
from nhalf.machines.message import Messages
from nhalf.machines.published_times import NAMES
from nhalf.machines.together import ConcurrentMessages
from nhalf.machines.wires import ranks_per_node
from nhalf.measure.plan.plan import Block, sizes_text
from nhalf.store.keys import parse_axes
from nhalf.studies.engines.answers import Cell, ways_of
from nhalf.studies.published.figures import RANGE, TOGETHER, Figure, place_of

TIMED_AS = {"latency": PINGPONG, "bidirectional": EXCHANGE, "logp": PINGPONG}
"""The pattern that a published figure is of, where it has another name."""
WITHOUT_CELLS = ("range", "distance", "b_eff")
LONG_BYTES = 1 << 20
PEAK_BYTES = (1 << 16, LONG_BYTES, 1 << 22)
"""Where a bandwidth without a size is sought."""
ALGORITHMS = ("barrier", "bcast", "allreduce")


def cells_of(machine: Machine, figure: Figure) -> tuple[Cell, ...]:
    """The cells whose times the figure follows from; none if it follows from no times."""
    point = figure.point
    is_joint = figure.kind == TOGETHER and point.pattern != "pairs-latency"
    is_other = point.pattern in WITHOUT_CELLS or point.axes.startswith("over=")
    if is_joint or is_other or not figure.kind:
        return ()
    pattern = TIMED_AS.get(point.pattern, point.pattern)
    ranks = 2 if pattern == PINGPONG else max(point.ranks, 4 if "pairs" in pattern else 2)
    placement = _placement(machine, point, ranks)
    algorithm = parse_axes(point.axes).get("algorithm", NATIVE)
    algorithm = NAMES.get(algorithm, algorithm)

    def cell(pattern: str, size_bytes: int) -> Cell:
        return Cell(pattern, algorithm, ranks, placement, size_bytes)

    if point.pattern == "ping-ping":
        return (cell(PINGPONG, LONG_BYTES), cell(EXCHANGE, LONG_BYTES))
    if figure.unit == "time_s":
        return (cell(pattern, point.size_bytes or int(pattern != "barrier")),)
    sizes = (point.size_bytes,) if point.size_bytes else PEAK_BYTES
    return tuple(cell(pattern, size_bytes) for size_bytes in sizes)


def _placement(machine: Machine, point: PublishedPoint, ranks: int) -> str:
    """Nodes and ranks on each, as few as possible on each where ranks are on several nodes."""
    # A formula of many ranks is of all of the machine.
    is_whole = not point.placement and ranks > 2
    if is_whole or place_of(machine, point) == OTHER_NODE:
        return _spread(machine, ranks)
    return f"1x{ranks}"


def _spread(machine: Machine, ranks: int) -> str:
    """Nodes and ranks on each, over as many nodes as there are."""
    nodes = machine.network.topology.nodes if machine.network else 1
    hosts = min(nodes or ranks, ranks)
    return f"{hosts}x{-(-ranks // hosts)}"


def value_of(figure: Figure, times_s: Iterable[float]) -> float:
    """The figure that the times of its cells make."""
    seconds = list(times_s)
    if figure.unit == "ratio":
        return seconds[0] / seconds[1]
    if figure.unit == "time_s":
        return seconds[0]
    # Both directions count where messages pass in both.
    ways = 2 if figure.point.pattern == "bidirectional" else 1
    sizes = (figure.point.size_bytes,) if figure.point.size_bytes else PEAK_BYTES
    return max(ways * size / time_s for size, time_s in zip(sizes, seconds, strict=True))


def answered(figure: Figure, cells: Iterable[Cell], times_s: Mapping[Cell, float]) -> float | None:
    """The figure by an engine's times; None unless it has all of them."""
    seconds = [times_s.get(cell, 0.0) for cell in cells]
    return value_of(figure, seconds) if seconds and all(seconds) else None


def blocks_of(cells: Iterable[Cell]) -> list[Block]:
    """The plan of all cells."""
    sizes: dict[Cell, list[int]] = {}
    for cell in dict.fromkeys(cells):
        sizes.setdefault(cell._replace(size_bytes=0), []).append(cell.size_bytes)
    return [
        Block(
            [cell.pattern],
            [cell.ranks],
            sizes_text(of_cell),
            _axes(cell),
            placements=[cell.placement],
        )
        for cell, of_cell in sizes.items()
    ]


def _axes(cell: Cell) -> dict[str, str]:
    if cell.pattern in ALGORITHMS:
        return {"algorithm": cell.algorithm}
    return {"pairs": "ranks/2"} if cell.pattern == "pairs-latency" else {}


DISTANT_BYTES = (1 << 20, 2 << 20)
"""Sizes at which the rates of distances were published."""
Answer = Callable[[Machine, Figure], float]


def without(machine: Machine, pattern: str) -> Machine:
    """The machine without what was published of a pattern itself, by whatever name."""
    names = {pattern, *(name for name, timed in TIMED_AS.items() if timed == pattern)}
    patterns = tuple(model for model in machine.patterns if model.pattern not in names)
    points = tuple(point for point in machine.points if point.pattern not in names)
    return replace(machine, patterns=patterns, points=points)


@dataclass(frozen=True)
class ModelAnswers:
    """What the model answers of a machine; ways of a pattern are made once."""

    machine: Machine
    _ways: dict[tuple[str, str], list[Way]] = field(default_factory=dict)

    def of(self, figure: Figure) -> dict[str, float]:
        """Answers in the figure's unit by algorithm; none if there are none.

        Which algorithm a library had is seldom published; patterns without a choice have one.
        """
        point = figure.point
        try:
            if cells := cells_of(self.machine, figure):
                return self._by_algorithm(figure, cells)
            ask = _over if point.axes.startswith("over=") else ANSWERS.get(point.pattern)
            return {NATIVE: ask(self.machine, figure)} if ask and figure.kind else {}
        except InputError:
            return {}

    def _by_algorithm(self, figure: Figure, cells: Sequence[Cell]) -> dict[str, float]:
        """What the times of cells make of the figure, by algorithms that have all of them."""
        times_s = [self.times_s(cell, figure.point.placement) for cell in cells]
        shared = [name for name in times_s[0] if all(name in times for times in times_s)]
        return {name: value_of(figure, [times[name] for times in times_s]) for name in shared}

    def times_s(self, cell: Cell, placement: str = "") -> dict[str, float]:
        """The time in a cell by algorithm, without what was published of the pattern.

        With a `placement`, and of two ranks, these are all on one node or none; else they are those
        of the whole machine. An algorithm that the cell or the machine names is the only one.
        """
        where = cell.where if placement or cell.ranks == PAIR else ""
        if (cell.pattern, where) not in self._ways:
            unpublished = Messages(without(self.machine, cell.pattern))
            self._ways[cell.pattern, where] = ways_of(unpublished, cell.pattern, where)
        ways = self._ways[cell.pattern, where]
        own_ways = [way for way in ways if way.algorithm == cell.algorithm]
        times_s = {}
        for way in own_ways or (ways if cell.algorithm == NATIVE else ()):
            with suppress(InputError):
                name = NATIVE if way.algorithm == FOLLOWED else way.algorithm
                times_s[name] = way.time_s(cell.ranks, cell.size_bytes)
        return times_s


def _range(machine: Machine, figure: Figure) -> float:
    """The time at the first size of a range by the range before it."""
    point, size_bytes = figure.point, figure.point.size_bytes or 0
    before = next(
        segment
        for curve in machine.models
        if (curve.pattern, curve.placement, curve.axes) == (PINGPONG, point.placement, point.axes)
        for segment in curve.segments
        if segment.to_bytes == size_bytes - 1
    )
    return before.time_s(size_bytes)


def _distance(machine: Machine, figure: Figure) -> float:
    """The rate between ranks so far apart, of the curve that was published of the distance."""
    distance = int(parse_axes(figure.point.axes)["distance"])
    per_node = ranks_per_node(machine)
    curves = [(0, Messages(machine).within_node), *Messages(machine).between_nodes]
    curve = [curve for nodes, curve in curves if nodes <= distance // per_node][-1]
    if distance < per_node:
        curve = curves[0][1]
    sizes = [figure.point.size_bytes] if figure.point.size_bytes else DISTANT_BYTES
    return max(size / curve.time_s(size) for size in sizes)


def _b_eff(machine: Machine, figure: Figure) -> float:
    name = parse_axes(figure.point.axes)["figure"]
    if name == "latency":
        pair = replace(figure.point, pattern="latency", ranks=PAIR, axes="")
        return next(iter(ModelAnswers(machine).of(Figure(pair, figure.unit)).values()))
    return drawn_b_eff(machine, figure.point.ranks).figures[name].middle_Bps


def _traffic(machine: Machine, figure: Figure) -> float:
    point = figure.point
    rule = parse_axes(point.axes).get("to", "complement")
    if "all stages" in point.what:
        rule = "complement" if rule == "cube" else f"{rule}-all"
    cyclic = "different nodes" in machine.environment.get("traffic", "")
    is_cyclic = cyclic and point.pattern == "traffic"
    layout = parse_layout(_spread(machine, point.ranks) + CYCLIC * is_cyclic)
    assert layout is not None
    rows = predict_traffic(machine, [rule], layout, point.size_bytes or LONG_BYTES).rows
    rates = [row.rate.middle_Bps for row in rows if row.place == place_of(machine, point)]
    if not rates:
        raise InputError(f"{rule} has no traffic there", "ask for another place")
    return rates[0]


def _cumulative(machine: Machine, figure: Figure) -> float:
    """The rate of each of all pairs over that of one, or one over each, as it was published."""
    half = figure.point.ranks // 2 if figure.point.ranks > 2 else (machine.ranks_max or 2) // 2
    together = ConcurrentMessages(Messages(machine), Draws(1), ranks_per_node(machine))
    pairs = [(rank, rank + half) for rank in range(half)]
    both_ways = [*pairs, *((b, a) for a, b in pairs)]
    size = np.full((1, 1), float(LONG_BYTES))
    one_pair = [pairs[-1], pairs[-1][::-1]]
    slower = float(together.time_s(both_ways, size)[0, 0] / together.time_s(one_pair, size)[0, 0])
    return slower if figure.value > 1 else 1 / slower


def _over(machine: Machine, figure: Figure) -> float:
    """How many times as fast as another machine: by what all its other such ratios say.

    Without another ratio, or where only the order was published, by the machine's own operation.
    """
    point = figure.point
    ratios = {
        other_point: other_point.ratio
        for other_point in machine.points
        if _question(other_point) == _question(point) and other_point != point
        if other_point.axes.startswith("over=") and other_point.ratio not in (None, 1)
    }
    slower_s = _operation_s(_named(point), point)
    if point.ratio == 1 or not ratios:
        return slower_s / _operation_s(machine, point)
    own_s = [_operation_s(_named(key), key) / (ratio or 1) for key, ratio in ratios.items()]
    return slower_s / math.exp(float(np.mean(np.log(own_s))))


def _question(point: PublishedPoint) -> tuple[str, int, int | None]:
    return point.pattern, point.ranks, point.size_bytes


def _named(point: PublishedPoint) -> Machine:
    return catalogue.machine(point.axes.removeprefix("over="))


def _operation_s(machine: Machine, point: PublishedPoint) -> float:
    """The machine's own operation where its record has it, else the fastest by its costs."""
    has_own = any(operation.pattern == point.pattern for operation in machine.operations)
    messages, ranks = Messages(machine), min(point.ranks, machine.ranks_for_users or point.ranks)
    ways = known_ways(point.pattern, messages, algorithms(), False, None, is_followed=False)
    return min(
        way.time_s(ranks, point.size_bytes or 0)
        for way in ways
        if not has_own or way.algorithm == NATIVE
    )


ANSWERS: dict[str, Answer] = {
    RANGE: _range,
    "distance": _distance,
    "b_eff": _b_eff,
    "aggregate": _traffic,
    "traffic": _traffic,
    "dense-cumulative": _cumulative,
}
