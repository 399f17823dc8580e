# SPDX-License-Identifier: Apache-2.0
"""Figures 4 to 6 of Adamidis et al. 2005: barrier, reduce and all-to-all on five machines.

The study publishes which machine is faster, and of some pairs how many times. Published ratios come
from the machines of record; orders without a number are written down here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from nhalf.base.units import format_size, format_time
from nhalf.decide.predict import predict
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms

MACHINES = ("altix-bx2", "x1-ssp", "x1-msp", "poweredge-ib", "opteron-myrinet")
PROCESSORS = {"x1-ssp": 48, "x1-msp": 12}
"""Of machines that have fewer than the study's 64 processors: those of three nodes for users."""
RANKS = {"barrier": 64, "reduce": 32, "alltoall": 32}
SIZES = (8, 1024, 1 << 20)
MARK = "†"
"""At times composed of messages, of machines whose collective operations are made otherwise."""
REASON = f"composed of messages{MARK}"
TREE = "binomial"
"""The algorithm of a library that does not choose by size."""

Link = Callable[[str], str]
Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]


@dataclass(frozen=True)
class Claim:
    """A machine that the study finds faster than another one; without a ratio it says no more."""

    pattern: str
    size_bytes: int
    faster: str
    slower: str
    ratio: float | None = None

    @property
    def predicted(self) -> float:
        """How many times as fast it is predicted."""
        return self.times_as_fast()

    def times_as_fast(self, algorithm: str = "") -> float:
        """How many times as fast it is predicted, if the slower one uses an algorithm."""
        slower_s = predicted_s(self.pattern, self.slower, self.size_bytes, algorithm)
        return slower_s / predicted_s(self.pattern, self.faster, self.size_bytes)

    @property
    def why(self) -> str:
        """The reason of a wrong order, and what a long reduction along a tree would make of it."""
        if self.predicted <= 1:
            return REASON
        if self.pattern == "reduce" and self.ratio is not None:
            return f"{self.times_as_fast(TREE):.2g} times if the other one uses a {TREE} tree"
        return ""


def claims() -> Iterator[Claim]:
    """All that the study says of the three operations."""
    for slower in ("poweredge-ib", "opteron-myrinet"):
        yield published("barrier", 0, "altix-bx2", slower)
    for slower in ("poweredge-ib", "opteron-myrinet"):
        yield Claim("barrier", 0, "x1-ssp", slower)
    for pattern in ("reduce", "alltoall"):
        for size_bytes in SIZES:
            for slower in ("altix-bx2", "poweredge-ib", "opteron-myrinet"):
                if pattern == "reduce":
                    yield published(pattern, size_bytes, "x1-ssp", slower)
                else:
                    yield Claim(pattern, size_bytes, "x1-ssp", slower)


def published(pattern: str, size_bytes: int, faster: str, slower: str) -> Claim:
    """A ratio of a record; one of 1 stands for "faster" without a number."""
    (ratio,) = [
        point.ratio
        for point in catalogue.machine(faster).points
        if (point.pattern, point.size_bytes or 0) == (pattern, size_bytes)
        and point.axes == f"over={slower}"
    ]
    return Claim(pattern, size_bytes, faster, slower, None if ratio == 1 else ratio)


def ranks_of(pattern: str, machine: str) -> int:
    """The ranks of the study, as far as the machine has processors."""
    return min(RANKS[pattern], PROCESSORS.get(machine, RANKS[pattern]))


@cache
def predicted_s(pattern: str, machine: str, size_bytes: int, algorithm: str = "") -> float:
    """The time of an algorithm, of the fastest if none is named."""
    subject = f"{pattern}/{algorithm}" if algorithm else pattern
    ranks = ranks_of(pattern, machine)
    found = predict(subject, catalogue.machine(machine), [ranks], [size_bytes], algorithms())
    return float(np.nanmin(found.time_s))


def times(link: Link, table: Table) -> str:
    """The predicted times of all five machines, and the order in which they come out."""
    rows = []
    for pattern, size_bytes in cells():
        by_machine = {name: predicted_s(pattern, name, size_bytes) for name in MACHINES}
        order = sorted(MACHINES, key=by_machine.__getitem__)
        marked = [marked_time(pattern, name, time_s) for name, time_s in by_machine.items()]
        size = format_size(size_bytes) if size_bytes else "–"
        rows.append([pattern, size, *marked, ", ".join(f"`{name}`" for name in order)])
    return table(["operation", "size", *map(link, MACHINES), "predicted order"], rows)


def cells() -> list[tuple[str, int]]:
    """The operations and sizes of the tables."""
    sized = [(pattern, size_bytes) for pattern in ("reduce", "alltoall") for size_bytes in SIZES]
    return [("barrier", 0), *sized]


def marked_time(pattern: str, machine: str, time_s: float) -> str:
    """A time with its mark, and the ranks where they are fewer."""
    ranks = ranks_of(pattern, machine)
    mark = MARK if catalogue.machine(machine).collectives_by else ""
    return f"{format_time(time_s)}{mark}" + (f" ({ranks})" if ranks < RANKS[pattern] else "")


def orders(link: Link, table: Table) -> str:
    """Each published order or ratio beside the predicted one, and how many come out."""
    rows = []
    for claim in claims():
        size = format_size(claim.size_bytes) if claim.size_bytes else "–"
        ratio = f"{claim.ratio:g} times" if claim.ratio else "faster"
        came_out = "yes" if claim.predicted > 1 else "**no**"
        compared = (ratio, f"{claim.predicted:.2g} times", came_out, claim.why)
        rows.append([claim.pattern, size, link(claim.faster), link(claim.slower), *compared])
    head = [
        "operation",
        "size",
        "faster in the study",
        "than",
        "published",
        "predicted",
        "in order",
    ]
    return f"{summary()}\n\n{table([*head, 'note'], rows)}"


def summary() -> str:
    """How many orders come out, by the machine that the study finds faster."""
    parts = []
    for name in ("altix-bx2", "x1-ssp"):
        of_machine = [claim for claim in claims() if claim.faster == name]
        right = [claim for claim in of_machine if claim.predicted > 1]
        parts.append(f"{len(right)} of {len(of_machine)} of `{name}`")
    return f"Orders that come out right: {' and '.join(parts)}."
