"""Blocking collective calls of a program as rules tell them apart: by operation, ranks and size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.operations import CALLS
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.mpi.switch import Affected

SPAN = 4
"""Sizes up to this multiple of each other share a rule: more rules would take more launches."""
TUNED = {call: pattern for pattern, call in CALLS.items()}
"""The names of tuners, if they differ. They do not decide on `reduce_scatter` with its counts."""


@dataclass(frozen=True)
class CallCell:
    """Blocking calls of an operation on communicators of this many ranks, from one size to another.

    Sizes are those of rules: a message, a vector or one block, 0 of a barrier. `affected` has the
    calls as a trace names and counts them.
    """

    operation: str
    ranks: int
    from_bytes: int
    to_bytes: int
    affected: Affected


def call_cells(program: Program) -> Iterator[CallCell]:
    """All cells of a program."""
    rows = collective_rows(program)
    for (name, ranks), group in rows.group_by("operation", "ranks", maintain_order=True):
        sized = group.sort("block_bytes")
        for first, last in _spans(sized["block_bytes"].unique().sort().to_list()):
            chosen = sized.filter(pl.col("block_bytes").is_between(first, last))
            traced = chosen["size_bytes"]
            affected = Affected(
                operations=(str(name),),
                from_bytes=min(traced),
                to_bytes=max(traced),
                ranks=int(str(ranks)),
            )
            yield CallCell(TUNED.get(str(name), str(name)), int(str(ranks)), first, last, affected)


def collective_rows(program: Program) -> pl.DataFrame:
    """The rows of blocking collectives with `operation`, `ranks` and the size of a block."""
    sizes = program.communicators.group_by("communicator").agg(ranks=pl.len())
    rows = program.calls.filter(pl.col("kind") == "collective")
    names = {name: operation(name) for name in rows["call"].unique() if not is_non_blocking(name)}
    rows = rows.filter(pl.col("call").is_in(list(names))).join(sizes, on="communicator")
    rows = rows.with_columns(operation=pl.col("call").replace_strict(names, default=""))
    has_all = (pl.col("operation") == "alltoall") | (
        (pl.col("operation") == "scatter") & (pl.col("partner") == pl.col("rank"))
    )
    blocks = pl.when(has_all).then(pl.col("size_bytes") // pl.col("ranks")).otherwise("size_bytes")
    return rows.with_columns(block_bytes=blocks).sort("operation", "ranks")


def _spans(sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Increasing sizes, in spans from one to at most some multiple of it."""
    first = last = -1
    for size in sizes:
        if last >= 0 and size > SPAN * first:
            yield first, last
            first = size
        elif last < 0:
            first = size
        last = size
    if last >= 0:
        yield first, last
