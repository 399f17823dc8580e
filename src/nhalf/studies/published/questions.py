"""The cells in which engines answer a published figure, and what their times make of it."""

from collections.abc import Iterable, Mapping

from nhalf.base.operations import NATIVE
from nhalf.machines.curve import OTHER_NODE, PINGPONG
from nhalf.machines.exchanges import EXCHANGE
from nhalf.machines.machine import Machine, PublishedPoint
from nhalf.machines.published_times import NAMES
from nhalf.measure.plan.plan import Block, sizes_text
from nhalf.store.keys import parse_axes
from nhalf.studies.engines.cells import Cell
from nhalf.studies.published.figures import TOGETHER, Figure, place_of

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
    placement = _layout(machine, point, ranks)
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


def _layout(machine: Machine, point: PublishedPoint, ranks: int) -> str:
    """Nodes and ranks on each, as few as possible on each where ranks are on several nodes."""
    # A formula of many ranks is of all of the machine.
    is_whole = not point.placement and ranks > 2
    if is_whole or place_of(machine, point) == OTHER_NODE:
        nodes = machine.network.topology.nodes if machine.network else 1
        hosts = min(nodes or ranks, ranks)
        return f"{hosts}x{-(-ranks // hosts)}"
    return f"1x{ranks}"


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
