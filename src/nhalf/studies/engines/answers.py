"""The canonical cells: patterns, sizes and ranks by which engines are held against each other; and
what each engine answers there: the model, a real library, SimGrid.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.operations import NATIVE
from nhalf.decide.engine_names import LIBRARY, SIMGRID
from nhalf.decide.way import Way
from nhalf.decide.ways import FOLLOWED, known_ways
from nhalf.facts.facts import Facts
from nhalf.machines.algorithms import algorithms
from nhalf.machines.curve import OTHER_NODE
from nhalf.machines.message import Messages
from nhalf.machines.spread import SAME_NODE, placed, spans_nodes
from nhalf.machines.wires import nodes_of, ranks_per_node
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.simulate.session import Simulation
from nhalf.measure.simulate.session import begin as begin_simulation
from nhalf.measure.virtual.machine import TIMEOUT_S, VirtualMachine, in_virtual_time
from nhalf.models.expression import PART_BYTES

MOVED_BYTES_MAX = 1 << 28
"""More than this, between all ranks together, takes a real library minutes to move."""


class Cell(NamedTuple):
    """What is asked: one operation among ranks that are placed so, of one size."""

    pattern: str
    algorithm: str
    ranks: int
    placement: str
    size_bytes: int

    @property
    def where(self) -> str:
        """`same-node` or `other-node`, as machine files have it."""
        return OTHER_NODE if spans_nodes(self.placement) else SAME_NODE


@dataclass(frozen=True)
class _Canonical:
    """A canonical pattern: for how many ranks it is, with which axes, and whose sizes count."""

    least: int = 2
    most: int | None = None
    axes: dict[str, str] = field(default_factory=dict)
    is_sized: bool = True
    is_between_all: bool = False

    def is_for(self, ranks: int) -> bool:
        """Whether the pattern needs neither fewer ranks nor leaves some out."""
        return self.least <= ranks <= (self.most or ranks)


ALGORITHMS = {"algorithm": "all"}
CANONICAL = {
    "pingpong": _Canonical(most=2),
    "exchange": _Canonical(most=2),
    "ring": _Canonical(3, axes={"ring": "6", "method": "sendrecv"}),
    "one-to-many": _Canonical(3),
    "many-to-one": _Canonical(3),
    "pairs-latency": _Canonical(4, axes={"pairs": "ranks/2"}),
    "bcast": _Canonical(axes=ALGORITHMS),
    "allreduce": _Canonical(axes=ALGORITHMS),
    "alltoall": _Canonical(axes=ALGORITHMS, is_between_all=True),
    "barrier": _Canonical(axes=ALGORITHMS, is_sized=False),
}
"""One way, exchange, ring, fans, all pairs through the middle, and collective operations."""


def blocks_of(messages: Messages, ranks: Sequence[int], sizes_bytes: Sequence[int]) -> list[Block]:
    """What engines that measure are asked: one rank a node, and ranks that share a node.

    Left out is what the machine has no room for, and messages that it does not know. Raises
    InputError if nothing is left.
    """
    placements = list(_placements(messages, ranks))
    blocks = [
        Block([pattern], [count], sizes, dict(canonical.axes), placements=[placement])
        for pattern, canonical in CANONICAL.items()
        for count, placement in placements
        if canonical.is_for(count)
        for sizes in [_sizes(canonical, count, sizes_bytes)]
        if sizes
    ]
    if not blocks:
        message = f"{messages.machine.name} has no room for {', '.join(map(str, ranks))} ranks"
        raise InputError(message, "ask for fewer: --ranks 2")
    return blocks


def _placements(messages: Messages, ranks: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Numbers of ranks and layouts that the machine has room for, and messages of."""
    machine = messages.machine
    spans = {bool(spans_nodes(curve.placement)) for curve in messages.curves}
    for count in ranks:
        for is_spread in sorted(spans, reverse=True):
            layout = f"{count}x1" if is_spread else f"1x{count}"
            # Within a node, two ranks and a full one are enough.
            if not is_spread and len(spans) > 1 and count not in (2, ranks_per_node(machine)):
                continue
            try:
                nodes_of(machine, count, layout)
            except InputError:
                continue
            yield count, layout


def _sizes(canonical: _Canonical, ranks: int, sizes_bytes: Sequence[int]) -> str:
    """The sizes as a plan has them; '' if all are too large."""
    if not canonical.is_sized:
        return "0"
    times = ranks * ranks if canonical.is_between_all else 1
    return ",".join(str(size) for size in sizes_bytes if size * times <= MOVED_BYTES_MAX)


def is_own_choice(cell: Cell) -> bool:
    """Whether the algorithm, or that of a broadcast within it, is up to each engine, so that times
    need not agree.
    """
    has_choice = "algorithm" in CANONICAL.get(cell.pattern, _Canonical()).axes
    return has_choice and NATIVE in cell.algorithm.split("-")


SAME = {NATIVE: (NATIVE, FOLLOWED)}
"""The ways of a pattern that has no algorithms to choose from: as known, and message by message."""
Times = dict[Cell, float]
"""Seconds by cell; of cells without an answer there are none."""


def by_model(messages: Messages, cells: Iterable[Cell]) -> tuple[Times, Times]:
    """What `nhalf predict` composes, and beside it what was published or fitted of the pattern."""
    composed_s: Times = {}
    published_s: Times = {}
    ways: dict[tuple[str, str], list[Way]] = {}
    for cell in cells:
        question = cell.pattern, cell.where
        if question not in ways:
            ways[question] = ways_of(messages, *question)
        for way in ways[question]:
            if way.algorithm not in SAME.get(cell.algorithm, (cell.algorithm,)):
                continue
            try:
                time_s = way.time_s(cell.ranks, cell.size_bytes)
            except InputError:
                continue
            (composed_s if way.is_composed else published_s)[cell] = time_s
    return {**published_s, **composed_s}, published_s


def ways_of(messages: Messages, pattern: str, where: str) -> list[Way]:
    """The ways of a pattern with placed ranks; none if nothing is known of it."""
    try:
        placed_messages = Messages(placed(messages.machine, where), messages.mpi)
        return known_ways(
            pattern, placed_messages, algorithms(), extrapolate=True, part_bytes=PART_BYTES
        )
    except InputError:
        return []


def asked(
    messages: Messages,
    blocks: Sequence[Block],
    engines: Sequence[str],
    mpi: str,
    progress: Progress,
) -> tuple[dict[str, Times], dict[str, str]]:
    """Times by engine that runs programs, and why the others of `engines` that do are missing."""
    ask: dict[str, Callable[[], Times]] = {
        LIBRARY: lambda: by_library(messages, blocks, mpi, progress),
        SIMGRID: lambda: by_simgrid(messages, blocks, progress),
    }
    times_s: dict[str, Times] = {}
    missing: dict[str, str] = {}
    for engine in (name for name in ask if name in engines):
        try:
            times_s[engine] = ask[engine]()
        except MissingError as error:
            missing[engine] = str(error)
    return times_s, missing


def by_library(messages: Messages, blocks: Sequence[Block], mpi: str, progress: Progress) -> Times:
    """What a real MPI library takes in virtual time; raises MissingError without one."""
    placements = [placement for block in blocks for placement in block.parsed_placements]
    ranks = {count for block in blocks for count in block.ranks}
    virtual = VirtualMachine.for_ranks(messages, ranks, placements)
    plan = Plan(
        transports=["mpi"],
        mpi=[mpi] if mpi else [],
        blocks=list(blocks),
        launches=1,
        budget_s=0.0,
        precision=0.01,
        options="",
        seed=1,
        timeout_s=TIMEOUT_S,
        one_library=True,
    )
    plan = in_virtual_time(plan, virtual, TIMEOUT_S)
    return _measured(
        lambda folder: session.begin(plan, folder, virtual.site, machine=virtual), progress
    )


def by_simgrid(messages: Messages, blocks: Sequence[Block], progress: Progress) -> Times:
    """What SMPI takes on SimGrid's platform; raises MissingError without SimGrid."""
    ranks = max(count for block in blocks for count in block.ranks)
    how = Simulation(ranks=ranks, mpi=messages.mpi)
    return _measured(
        lambda folder: begin_simulation(messages.machine, how, "", list(blocks), folder), progress
    )


def _measured(begin: Callable[[Path], session.Prepared], progress: Progress) -> Times:
    """The medians of a run that is not kept; raises FailedError if nothing was measured."""
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        outcome = session.measure(begin(Path(folder) / "run"), progress)
        rows = Facts.of([outcome.run]).summary.to_dicts()
    if not rows:
        reasons = "; ".join(outcome.failed.values())
        raise FailedError("nothing was measured", reasons or "ask for fewer ranks")
    names = ("pattern", "algorithm", "ranks", "placement", "bytes")
    times_s = {Cell(*(row[name] for name in names)): row["median_s"] for row in rows}
    return {cell: time_s for cell, time_s in times_s.items() if time_s is not None}
