"""Published collective operations of machines since 2010, predicted from their ping-pong.

Nothing is measured, and nothing is fitted. A prediction is that of the fastest algorithm that nhalf
knows of the operation, its messages followed over the machine's record on the nodes that were
published; its interval reaches as far as the tolerance of `nhalf machines check --published`, which
is from machines up to 2005.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec.structs import replace

import gallery_tables
from nhalf.base.errors import InputError
from nhalf.base.operations import OPERATIONS
from nhalf.base.units import format_size
from nhalf.decide.ways import known_ways
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.composed import RANKS_MAX, Composer
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Machine, PublishedPoint
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.machines.wires import nodes_of
from nhalf.studies.published.figures import COLLECTIVES
from nhalf.studies.published.prover import TOLERANCES

RATIO = TOLERANCES[COLLECTIVES].alone_ratio
"""Half the width of an interval, as a factor: the largest miss of machines up to 2005."""
CLOSE_RATIO = 2.0
SHORT_BYTES = 8192
HEAD = ["machine", "operation", "ranks", "cells", "inside", "within 2", "median", "short", "long",
        "nearest algorithm"]  # fmt: skip


class CollectiveCell(NamedTuple):
    """A published time, and the seconds of every algorithm."""

    machine: str
    pattern: str
    ranks: int
    placement: str
    size_bytes: int
    published_s: float
    times_s: dict[str, float]

    @property
    def ratio(self) -> float:
        """What was published, over the fastest algorithm."""
        return self.published_s / min(self.times_s.values())

    @property
    def inside(self) -> bool:
        """Whether the published time lies in the interval."""
        return 1 / RATIO <= self.ratio <= RATIO


def measure(runs: int) -> tuple[Any, str]:
    """The cells of all machines; `runs` is not asked for."""
    cells = [
        cell
        for name in sorted({*catalogue.names()} - {*catalogue.of_studies()})
        for cell in cells_of(catalogue.machine(name))
    ]
    return [_kept(cell) for cell in cells], page(cells)


def cells_of(machine: Machine) -> Iterator[CollectiveCell]:
    """The published times of the curve's own library in host memory, up to its largest message."""
    bare = Messages(replace(machine, points=()))
    for point in machine.points:
        size_bytes = point.size_bytes or 0
        if point.pattern not in OPERATIONS or point.axes or point.time_s is None:
            continue
        if size_bytes > (machine.largest_bytes or 0):
            continue
        if times_s := times_of(bare, point):
            yield CollectiveCell(
                *(machine.name, point.pattern, point.ranks, point.placement, size_bytes),
                point.time_s,
                times_s,
            )


def times_of(messages: Messages, point: PublishedPoint) -> dict[str, float]:
    """Seconds by algorithm on the nodes of a point; by costs where ranks are too many to follow."""
    size_bytes, named = point.size_bytes or 0, algorithms()[point.pattern]
    if point.ranks > RANKS_MAX:
        ways = known_ways(point.pattern, messages, algorithms(), True, None, is_followed=False)
        times_s = {}
        for way in ways:
            with suppress(InputError):
                times_s[way.algorithm] = way.time_s(point.ranks, size_bytes)
        return times_s
    layout = parse_layout(point.placement) or f"{point.ranks}x1"
    nodes = nodes_of(messages.machine, point.ranks, str(layout))
    composer = Composer(messages, parts_of(messages), nodes)
    composed = {
        each.name: composer.time_s(point.pattern, each.name, point.ranks, size_bytes)
        for each in named
    }
    return {name: time_s for name, time_s in composed.items() if time_s}


def page(cells: Sequence[CollectiveCell]) -> str:
    """What the section says."""
    machines = dict.fromkeys(cell.machine for cell in cells)
    rows = [
        _row(group)
        for machine in machines
        for group in _groups([cell for cell in cells if cell.machine == machine])
    ]
    inside, close = sum(cell.inside for cell in cells), sum(map(_is_close, cells))
    shares = (f"`{name}` {_inside_of(cells, name)}" for name in machines)
    return "\n\n".join(
        [
            "# Collective operations of machines since 2010, from their ping-pong",
            f"{inside} of {len(cells)} published times of {len(machines)} machines lie in the "
            f"interval, {close} within a factor of two. By machine: {', '.join(shares)}.",
            "Median, short and long are what was published over the prediction: of all sizes, of "
            f"those up to {format_size(SHORT_BYTES)}, and of longer ones. The nearest algorithm "
            "is the one with the smallest median miss; its factor stands beside it.",
            gallery_tables.table(HEAD, rows),
        ]
    )


def _inside_of(cells: Sequence[CollectiveCell], machine: str) -> str:
    own = [cell.inside for cell in cells if cell.machine == machine]
    return f"{sum(own)} of {len(own)}"


def _is_close(cell: CollectiveCell) -> bool:
    return 1 / CLOSE_RATIO <= cell.ratio <= CLOSE_RATIO


def _groups(cells: Sequence[CollectiveCell]) -> Iterator[list[CollectiveCell]]:
    """The cells of each operation, number of ranks and placement."""
    kinds = dict.fromkeys((cell.pattern, cell.ranks, cell.placement) for cell in cells)
    for kind in kinds:
        yield [cell for cell in cells if (cell.pattern, cell.ranks, cell.placement) == kind]


def _row(cells: Sequence[CollectiveCell]) -> list[str]:
    """A row of the table: an operation of one machine and number of ranks."""
    first = cells[0]
    where = f" ({first.placement})" if parse_layout(first.placement) else ""
    short = [cell.ratio for cell in cells if cell.size_bytes <= SHORT_BYTES]
    long = [cell.ratio for cell in cells if cell.size_bytes > SHORT_BYTES]
    name, miss = _nearest(cells)
    return [
        f"`{first.machine}`",
        first.pattern,
        f"{first.ranks}{where}",
        str(len(cells)),
        str(sum(cell.inside for cell in cells)),
        str(sum(map(_is_close, cells))),
        *(f"{statistics.median(each):.2f}" if each else "" for each in
          ([cell.ratio for cell in cells], short, long)),
        f"{name} {miss:.2f}",
    ]  # fmt: skip


def _nearest(cells: Sequence[CollectiveCell]) -> tuple[str, float]:
    """The algorithm that comes nearest to the published times, and its median miss as a factor."""

    def miss(name: str) -> float:
        ratios = [cell.published_s / cell.times_s[name] for cell in cells if name in cell.times_s]
        return statistics.median(abs(math.log(ratio)) for ratio in ratios)

    name = min(cells[0].times_s, key=miss)
    return name, math.exp(miss(name))


def _kept(cell: CollectiveCell) -> dict[str, Any]:
    times_s = {name: float(f"{time_s:.4g}") for name, time_s in cell.times_s.items()}
    ratio = float(f"{cell.ratio:.4g}")
    return {**cell._asdict(), "times_s": times_s, "ratio": ratio, "inside": cell.inside}
