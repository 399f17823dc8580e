"""A traced kernel of the NAS Parallel Benchmarks beside its closed form, rank by rank."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from nhalf.base.errors import NhalfError
from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import PROC_NULL
from nhalf.models.npb.problems import APP, problem
from nhalf.models.npb.traffic import (
    ALLREDUCE,
    ALLTOALL,
    ALLTOALLV,
    KERNELS,
    REDUCE,
    SEND,
    Traffic,
    traffic_of,
)

PASSING = ("mpi", "hybrid")
"""Programming models whose ranks send messages."""


def traffic_rows(applications: Iterable[Mapping[str, Any]]) -> list[Row]:
    """A row for every kernel, class and number of ranks that ran in message passing.

    `messages` and `bytes` are those of all ranks, `messages_min` and `messages_max` of the ranks
    with the fewest and the most; `calls` lists each call by size with its number on all ranks.
    Runs are whole ones, with the iteration that is not timed and the verification.
    """
    cases = dict.fromkeys(
        (str(row["kernel"]), str(row["class"]), int(row["ranks"]))
        for row in applications
        if row["app"] == APP and row["program"] in PASSING and row["ranks"] > 1
    )
    rows = []
    for kernel, name, ranks in cases:
        of_ranks = closed_form(kernel, name, ranks)
        if of_ranks:
            head = {"kernel": kernel, "class": name, "ranks": ranks}
            rows.append({**head, **_totals(of_ranks)})
    return rows


def closed_form(kernel: str, name: str, ranks: int) -> list[Traffic]:
    """What each rank of a kernel sends in a run; empty where no closed form is known."""
    if kernel not in KERNELS:
        return []
    try:
        size = problem(kernel, name)
    except NhalfError:
        return []
    return [traffic_of(size, rank, ranks) for rank in range(ranks)]


def _totals(of_ranks: list[Traffic]) -> Row:
    calls: Counter[tuple[str, int]] = Counter()
    for traffic in of_ranks:
        for (call, _, size_bytes), times in traffic.items():
            calls[call, size_bytes] += times
    messages = [
        sum(times for (call, _, _), times in traffic.items() if call == SEND)
        for traffic in of_ranks
    ]
    return {
        "messages": sum(messages),
        "bytes": sum(size * times for (call, size), times in calls.items() if call == SEND),
        "messages_min": min(messages),
        "messages_max": max(messages),
        "calls": [
            {"call": call, "size_bytes": size_bytes, "count": times}
            for (call, size_bytes), times in sorted(calls.items())
        ],
    }


COUNTED = (ALLREDUCE, REDUCE, ALLTOALL, ALLTOALLV)
"""Collective operations of kernels."""


@dataclass(frozen=True)
class ClosedForm:
    """What was traced of a kernel, and its closed form for as many runs.

    Messages and bytes are those between ranks, of all of them. `different` counts the calls, of
    one rank with one partner and size, whose number is not that of the closed form.
    """

    kernel: str
    ranks: int
    runs: int
    messages: int
    bytes: int
    expected_messages: int
    expected_bytes: int
    collectives: int
    different: int

    @property
    def is_equal(self) -> bool:
        """Whether every rank sent exactly what the closed form has."""
        return self.different == 0


@fact
def beside_closed_form(program: Program) -> ClosedForm | None:
    """The comparison for a trace of `nhalf app npb` with one kernel and class; None for others."""
    case = _case(program.trace.command)
    if case is None:
        return None
    kernel, name = case
    expected = closed_form(kernel, name, program.ranks)
    if not expected:
        return None
    traced = [_traffic(program, rank) for rank in range(program.ranks)]
    # A launch repeats short runs: whole ones, so that numbers of calls are multiples.
    total = sum(map(Counter.total, expected))
    runs = max(1, round(sum(map(Counter.total, traced)) / total)) if total else 1
    of_runs = [
        Counter({key: runs * times for key, times in traffic.items()}) for traffic in expected
    ]
    return ClosedForm(
        f"{kernel}.{name}",
        program.ranks,
        runs,
        *_sent(traced),
        *_sent(of_runs),
        sum(map(Counter.total, traced)) - _sent(traced)[0],
        sum(
            mine[key] != theirs[key]
            for mine, theirs in zip(traced, of_runs, strict=True)
            for key in {*mine, *theirs}
        ),
    )


def _case(command: Sequence[str]) -> tuple[str, str] | None:
    """Return kernel and class of a command that runs one of each."""
    words = [part for word in command for part in (word.split("=", 1) if "--" in word else [word])]
    if not any(pair == ("app", APP) for pair in pairwise(words)):
        return None
    options = dict(pairwise(words))
    kernel, name = options.get("--kernel", "all"), options.get("--class", "A").upper()
    return None if kernel == "all" or "," in kernel + name else (kernel, name)


@fact
def _traffic(program: Program, rank: int) -> Traffic:
    """What a rank sent but for MPI_COMM_WORLD, which carries what controls the runs."""
    members = dict(program.communicators.group_by("communicator").len().iter_rows())
    rows = program.calls.filter(
        (pl.col("rank") == rank)
        & (pl.col("communicator") > 0)
        & (pl.col("partner") != PROC_NULL)
        & pl.col("kind").is_in(["sent", "collective"])
    )
    traffic: Traffic = Counter()
    for row in rows.iter_rows(named=True):
        call = row["call"].removeprefix("MPI_").lower()
        if row["kind"] == "sent":
            traffic[SEND, row["partner"], row["size_bytes"]] += row["count"]
        elif row["size_bytes"] > 0 and call in COUNTED:
            blocks = members.get(row["communicator"], program.ranks) if call == ALLTOALL else 1
            traffic[call, -1, row["size_bytes"] // blocks] += row["count"]
    return traffic


def _sent(of_ranks: Sequence[Traffic]) -> tuple[int, int]:
    sends = [
        (size_bytes, times)
        for traffic in of_ranks
        for (call, _, size_bytes), times in traffic.items()
        if call == SEND
    ]
    return sum(times for _, times in sends), sum(size * times for size, times in sends)
