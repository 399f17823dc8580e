"""The family of calls that takes most of the time in MPI: windows, communicators, polls, messages.

Calls of a family have one remedy: windows that are made and freed in a loop cost together, whatever
the single calls are named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.completions import POLLS
from nhalf.facts.program.most_expensive import most_expensive
from nhalf.facts.program.program import Program
from nhalf.facts.program.time_in_mpi import time_by_call

WINDOWS, COMMUNICATORS, PERSISTENT, POLLING = "windows", "communicators", "requests", "polls"
EPOCHS, TYPES, FILES, PROCESSES = "epochs", "datatypes", "files", "processes"
OTHER = "messages and operations"
_FAMILIES = {
    WINDOWS: r"Win_(create|allocate|free|attach|detach)",
    COMMUNICATORS: r"Comm_(dup|idup|split|create|free|disconnect)|Cart_(create|sub)|Graph_create"
    r"|Dist_graph_create|Intercomm_(create|merge)",
    PERSISTENT: r"Request_free|Start|Startall",
    EPOCHS: r"Win_",
    TYPES: r"Type_|Pack|Unpack",
    FILES: r"File_",
    PROCESSES: r"Comm_(spawn|accept|connect|join)",
}
"""How the names of a family's calls begin, after MPI_; the first that fits counts."""


@dataclass(frozen=True)
class LeadingCalls:
    """A family with its `share` of the time in MPI, 0 to 1, and `waiting_share` of its own time.

    `call` is the one that takes most of it, `place` where that takes most of its time ('' if
    unknown), `times` how often a rank makes it at most, `rank` the one that does.
    """

    family: str
    share: float
    waiting_share: float
    call: str
    place: str
    times: int
    rank: int


def family_of(call: str) -> str:
    """The family of a call by its name."""
    if call in POLLS:
        return POLLING
    name = call.removeprefix("MPI_")
    return next((key for key, form in _FAMILIES.items() if re.match(form, name)), OTHER)


@fact
def leading_calls(program: Program) -> LeadingCalls | None:
    """The family with most of the time in MPI; None if no time is known."""
    calls = time_by_call(program)
    in_mpi_s = float(calls["time_s"].sum())
    if in_mpi_s <= 0:
        return None
    family = pl.col("call").map_elements(family_of, pl.String())
    by_family = calls.with_columns(family=family)
    sums = by_family.group_by("family").agg(pl.col("time_s", "waiting_s").sum())
    most = sums.sort("time_s", "family", descending=[True, False]).row(0, named=True)
    own = by_family.filter(pl.col("family") == most["family"])
    call = _longest(own, "call")
    ranks = own.filter(pl.col("call") == call).sort("count", "rank", descending=[True, False])
    places = most_expensive(program).filter(pl.col("call") == call)
    return LeadingCalls(
        most["family"],
        most["time_s"] / in_mpi_s,
        most["waiting_s"] / most["time_s"],
        call,
        str(places["place"][0]) if len(places) else "",
        int(ranks["count"][0]),
        int(ranks["rank"][0]),
    )


def _longest(rows: pl.DataFrame, column: str) -> str:
    """The value of a column with most time."""
    sums = rows.group_by(column).agg(pl.col("time_s").sum())
    return str(sums.sort("time_s", column, descending=[True, False])[column][0])
