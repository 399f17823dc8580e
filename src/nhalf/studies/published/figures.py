"""The published figures of a machine: each a question that has an answer already."""

from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.base.units import format_rate, format_size, format_time
from nhalf.machines.curve import OTHER_NODE
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Machine, PublishedPoint
from nhalf.machines.spread import SAME_NODE, spans_nodes
from nhalf.machines.wires import ranks_per_node
from nhalf.store.keys import parse_axes

RANKS = (8, 32)
SIZES = (8, 1024, 1 << 16, 1 << 20)
"""Where formulas are asked, beside the first size of each of their ranges."""
UNITS = ("time_s", "rate_Bps", "ratio")
RANGE = "range"
"""The pattern of the figure that a range of sizes of a ping-pong is."""
READ_BACK, ONE_WAY, BOTH_WAYS, MODES = "read back", "one way", "both ways", "modes"
FANS, COLLECTIVES, TOGETHER = "fans", "collectives", "together"
KINDS = {
    **dict.fromkeys(("pingpong", "distance"), READ_BACK),
    **dict.fromkeys(("latency", "logp", RANGE), ONE_WAY),
    **dict.fromkeys(("exchange", "bidirectional", "ping-ping"), BOTH_WAYS),
    **dict.fromkeys(("stream", "pingpong-bsend", "pingpong-ssend", "pingpong-diffbuf"), MODES),
    **dict.fromkeys(("one-to-many", "many-to-one", "many-to-many"), FANS),
    **dict.fromkeys(("bcast", "allreduce", "barrier", "reduce", "alltoall"), COLLECTIVES),
    **dict.fromkeys(
        ("aggregate", "traffic", "b_eff", "dense-cumulative", "pairs-latency"), TOGETHER
    ),
}
"""What kind of question a pattern is; errors of one kind have causes in common. Curves were made
of what is read back: it tells whether both are the same number, not whether that is right."""
ASKED = frozenset(("algorithm", "distance", "figure", "over", "pairs", "to"))
"""Axes of questions. Others name what the machine's own messages do not tell: another network,
library, test or memory."""
AT_LEAST = ("at least", "above this", "more than this")
AT_MOST = ("at most", "below this")


@dataclass(frozen=True)
class Figure:
    """A published number with its unit; `is_formula` where a formula was evaluated at the point."""

    point: PublishedPoint
    unit: str
    is_formula: bool = False

    @property
    def value(self) -> float:
        """The number: seconds, bytes per second, or a ratio."""
        return float(getattr(self.point, self.unit))

    @property
    def kind(self) -> str:
        """The kind of its question; '' for what nobody answers."""
        axes = self.point.axes
        # A layout has its own number of ranks on a node, which questions do not ask for.
        if parse_axes(axes).keys() - ASKED or parse_layout(self.point.placement):
            return ""
        if axes.startswith("figure=") and axes.endswith(("latency", "pingpong")):
            return ONE_WAY
        return KINDS.get(self.point.pattern, "")

    @property
    def is_ceiling(self) -> bool:
        """Whether engines answer with the most that there can be, not with what there is."""
        return self.point.pattern == "aggregate"

    @property
    def bound(self) -> int:
        """1 where an answer may only be higher, -1 where it may only be lower, else 0."""
        if self.is_ceiling or any(words in self.point.what for words in AT_LEAST):
            return 1
        return -1 if any(words in self.point.what for words in AT_MOST) else 0

    @property
    def bound_words(self) -> str:
        """What kind of bound was published, '' of a value."""
        return "" if self.is_ceiling else ("", "at least", "at most")[self.bound]

    @property
    def words(self) -> str:
        """Which figure it is, as tables name it."""
        point = self.point
        parts = [point.pattern, point.axes, f"{point.ranks} ranks" if point.ranks != 2 else ""]
        size = "" if point.size_bytes is None else format_size(point.size_bytes)
        return ", ".join(filter(None, (*parts, size, point.placement)))

    def text(self, value: float) -> str:
        """A value in the figure's unit, for tables."""
        formats = {"time_s": format_time, "rate_Bps": format_rate}
        return formats[self.unit](value) if self.unit in formats else f"{value:.3g}"


def figures(machine: Machine) -> list[Figure]:
    """All published figures of a machine: points, formulas and parameters of messages.

    Formulas are asked at RANKS and SIZES, as far as they hold there.
    """
    points = [
        Figure(point, unit)
        for point in machine.points
        for unit in UNITS
        if getattr(point, unit) is not None
    ]
    formulas = (Figure(point, "time_s", is_formula=True) for point in _formulas(machine))
    return [*dict.fromkeys((*points, *formulas, *_parameters(machine)))]


def _formulas(machine: Machine) -> Iterator[PublishedPoint]:
    """Points of published formulas: canonical sizes, and where a range of sizes begins."""
    for model in machine.patterns:
        if model.is_fitted:
            continue
        most = min(model.to_ranks or machine.ranks_max or 2, machine.ranks_max or 2)
        for ranks in sorted({min(count, most) for count in RANKS}):
            for size_bytes in sorted({model.from_bytes, *SIZES} if model.per_byte_s else {0}):
                if model.covers(size_bytes, ranks):
                    yield PublishedPoint(
                        pattern=model.pattern,
                        ranks=ranks,
                        size_bytes=size_bytes,
                        time_s=model.time_s(size_bytes, ranks),
                        what=model.what,
                        source=model.source,
                    )


def _parameters(machine: Machine) -> Iterator[Figure]:
    """L + o_s + o_r of published parameters, which is half a round trip; ranges of curves."""
    for parameters in machine.loggp:
        parts_s = (parameters.latency_s, parameters.send_overhead_s, parameters.recv_overhead_s)
        if parameters.launches == 0 and None not in parts_s:
            time_s = sum(filter(None, parts_s))
            point = PublishedPoint(
                pattern="logp", size_bytes=1, placement=parameters.placement, time_s=time_s
            )
            yield Figure(point, "time_s")
    for curve in machine.models:
        if not curve.run:
            yield from _ranges(curve)


def _ranges(curve: FittedModel) -> Iterator[Figure]:
    """The published time at the first size of each range of sizes but the first."""
    for segment in curve.segments[1:]:
        point = PublishedPoint(
            pattern=RANGE,
            size_bytes=segment.from_bytes,
            placement=curve.placement,
            axes=curve.axes,
            time_s=segment.time_s(segment.from_bytes),
        )
        yield Figure(point, "time_s", is_formula=True)


def place_of(machine: Machine, point: PublishedPoint) -> str:
    """`same-node` or `other-node`: as published, else within a node if the ranks fit into one."""
    if point.placement:
        return OTHER_NODE if spans_nodes(point.placement) else SAME_NODE
    return SAME_NODE if 1 < point.ranks <= ranks_per_node(machine) else OTHER_NODE
