"""The canonical cells: patterns, sizes and ranks by which engines are held against each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nhalf.base.errors import InputError
from nhalf.base.operations import NATIVE
from nhalf.machines.curve import OTHER_NODE
from nhalf.machines.message import Messages
from nhalf.machines.spread import SAME_NODE, spans_nodes
from nhalf.machines.wires import nodes_of, ranks_per_node
from nhalf.measure.plan.plan import Block

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
