"""The calls of a traced program as Caliper's split JSON, which Hatchet and Thicket read.

A tree of three levels: the program, its calls, and their sizes; a row for each rank. The time of a
node is its own: of the program the computing, of a call none, of a size the time in such calls.
Format: json-split of cali-query (https://github.com/LLNL/Caliper), as Hatchet reads it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.units import format_size
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.facts.program.critical_path import computing_s
from nhalf.facts.program.program import Program

PATH, ORDER = "path", "Node order"
METRICS = {
    "sum#time.duration": "s",
    "inclusive#sum#time.duration": "s",
    "sum#count": "",
    "sum#bytes": "B",
    "sum#waiting": "s",
}
"""The columns of values, with their units."""


class Hatchet(Exporter):
    """Calls and sizes by rank, for `hatchet.GraphFrame.from_caliper`."""

    description = "a traced program's calls by rank as Caliper's JSON, for Hatchet and Thicket"

    def text(self, subject: Subject) -> str:
        """The JSON; raises InputError for a trace without calls."""
        program = the_program(subject, "hatchet")
        if program.calls.is_empty():
            raise InputError(f"{program.path} holds no calls", "trace a program that uses MPI")
        numbers = _tree(program)
        nodes: list[dict[str, Any]] = [{"label": program.command or program.name, "column": PATH}]
        for call, size_bytes in numbers:
            is_call = size_bytes is None
            parent = 0 if is_call else numbers[call, None]
            label = call if is_call else f"{call} {format_size(size_bytes or 0)}"
            nodes.append({"label": label, "column": PATH, "parent": parent})
        content = {
            "data": [list(row) for row in _rows(program)],
            "columns": [ORDER, "mpi.rank", PATH, *METRICS],
            "column_metadata": [
                {"is_value": True},
                {"is_value": True},
                {"is_value": False},
                *({"is_value": True, "attribute.unit": unit} for unit in METRICS.values()),
            ],
            "nodes": nodes,
            "command": program.command,
            "mpi.library": program.library,
            "mpi.world.size": program.ranks,
        }
        return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def _tree(program: Program) -> dict[tuple[str, int | None], int]:
    """The number of each call (no size) and of each of its sizes; 0 is the program."""
    numbers: dict[tuple[str, int | None], int] = {}
    kinds = program.calls.select("call", "size_bytes").unique().sort("call", "size_bytes")
    for call, size_bytes in kinds.iter_rows():
        for node in ((call, None), (call, size_bytes)):
            numbers.setdefault(node, len(numbers) + 1)
    return numbers


def _rows(program: Program) -> Iterator[tuple[float, ...]]:
    """A row for each rank and node: own and inclusive time, calls, bytes and waiting.

    The first rows are the nodes in their order, which is how Hatchet finds their places.
    """
    numbers = _tree(program)
    names = ("time_s", "count", "bytes", "waiting_s")
    values: dict[tuple[int, int], tuple[float, ...]] = {}
    inside_s: dict[tuple[int, int], float] = {}
    by_size = program.calls.group_by("rank", "call", "size_bytes").agg(pl.col(*names).sum())
    for rank, call, size_bytes, time_s, count, moved, waiting_s in by_size.iter_rows():
        values[rank, numbers[call, size_bytes]] = (time_s, time_s, count, moved, waiting_s)
        for node in (0, numbers[call, None]):
            inside_s[rank, node] = inside_s.get((rank, node), 0.0) + time_s
    computing = computing_s(program)
    for rank in range(program.ranks):
        own_s, in_mpi_s = computing.get(rank, 0.0), inside_s.get((rank, 0), 0.0)
        yield 0, rank, 0, own_s, own_s + in_mpi_s, 1, 0, 0.0
        for node in numbers.values():
            usual = (0.0, inside_s.get((rank, node), 0.0), 0, 0, 0.0)
            yield node, rank, node, *values.get((rank, node), usual)
