"""What a run of a kernel of the NAS Parallel Benchmarks sends, in closed form, beside its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from nhalf.base.errors import NhalfError
from nhalf.base.rows import Row
from nhalf.models.npb.problems import APP, problem
from nhalf.models.npb.traffic import KERNELS, SEND, Traffic, traffic_of

MPI = "mpi"
"""The programming model whose ranks send messages."""


def traffic_rows(applications: Iterable[Mapping[str, Any]]) -> list[Row]:
    """A row for every kernel, class and number of ranks that ran in message passing.

    `messages` and `bytes` are those of all ranks, `messages_min` and `messages_max` of the ranks
    with the fewest and the most; `calls` lists each call by size with its number on all ranks.
    Runs are whole ones, with the iteration that is not timed and the verification.
    """
    cases = dict.fromkeys(
        (str(row["kernel"]), str(row["class"]), int(row["ranks"]))
        for row in applications
        if row["app"] == APP and row["program"] == MPI and row["ranks"] > 1
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
