"""Figures 4 to 6 of Adamidis et al. 2005: barrier, reduce and all-to-all on five machines.

The study publishes which machine is faster, and of some pairs how many times; the points of the
machines of record have both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from nhalf.base.units import format_size, format_time
from nhalf.decide.ways import known_ways
from nhalf.machines import catalogue
from nhalf.machines.algorithms import algorithms
from nhalf.machines.message import Messages

MACHINES = ("altix-bx2", "x1-ssp", "x1-msp", "poweredge-ib", "opteron-myrinet")
RANKS = {"barrier": 64, "reduce": 32, "alltoall": 32}
SIZES = (8, 1024, 1 << 20)
MARK = "†"
"""At times of a machine's own operation, with numbers inferred from published ones."""
READ_BACK = "read back"
"""The note at what a number was inferred from: that it comes out shows nothing."""
TREE = "binomial"
"""The algorithm of a library that does not choose by size."""
NATIVE = "native"

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
    def note(self) -> str:
        """Whether it was inferred from, and what a long reduction along a tree would make of it."""
        words = [READ_BACK] if self in inferred_from() else []
        if self.pattern == "reduce" and self.ratio and not own(self.pattern, self.slower):
            words.append(f"{self.times_as_fast(TREE):.2g} if the other one uses a {TREE} tree")
        return ", ".join(words)


def claims() -> Iterator[Claim]:
    """All that the study says of the three operations; a ratio of 1 stands for "faster"."""
    for pattern in RANKS:
        for faster in MACHINES:
            points = [p for p in catalogue.machine(faster).points if p.pattern == pattern]
            for point in sorted(points, key=lambda point: point.size_bytes or 0):
                slower = point.axes.removeprefix("over=")
                if slower in MACHINES:
                    ratio = None if point.ratio == 1 else point.ratio
                    yield Claim(pattern, point.size_bytes or 0, faster, slower, ratio)


@cache
def inferred_from() -> frozenset[Claim]:
    """The claims that numbers of records were inferred from."""
    known = {
        (each.machine, each.pattern, each.size_bytes or 0, each.axes)
        for name in MACHINES
        for operation in catalogue.machine(name).operations
        for each in operation.inferred_from
    }
    return frozenset(
        claim
        for claim in claims()
        if (claim.faster, claim.pattern, claim.size_bytes, f"over={claim.slower}") in known
    )


def own(pattern: str, machine: str) -> bool:
    """Whether a record says how the machine performs an operation."""
    return any(each.pattern == pattern for each in catalogue.machine(machine).operations)


def ranks_of(pattern: str, machine: str) -> int:
    """The ranks of the study, as far as the machine has processors for users."""
    return min(RANKS[pattern], catalogue.machine(machine).ranks_for_users or RANKS[pattern])


@cache
def predicted_s(pattern: str, machine: str, size_bytes: int, algorithm: str = "") -> float:
    """The time of an algorithm; without a name of the machine's own, else of the fastest.

    Costs as the numbers of the records were inferred from them: messages do not meet.
    """
    algorithm = algorithm or (NATIVE if own(pattern, machine) else "")
    messages = Messages(catalogue.machine(machine))
    ways = known_ways(pattern, messages, algorithms(), False, None, is_followed=False)
    ranks = ranks_of(pattern, machine)
    return min(way.time_s(ranks, size_bytes) for way in ways if algorithm in ("", way.algorithm))


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
    mark = MARK if own(pattern, machine) else ""
    return f"{format_time(time_s)}{mark}" + (f" ({ranks})" if ranks < RANKS[pattern] else "")


def orders(link: Link, table: Table) -> str:
    """Each published order or ratio beside the predicted one, and how many come out."""
    rows = []
    for claim in claims():
        size = format_size(claim.size_bytes) if claim.size_bytes else "–"
        ratio = f"{claim.ratio:g} times" if claim.ratio else "faster"
        came_out = "yes" if claim.predicted > 1 else "**no**"
        compared = (ratio, f"{claim.predicted:.2g} times", came_out, claim.note)
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
        back = [claim for claim in right if claim in inferred_from()]
        words = f"{len(right)} of {len(of_machine)} of `{name}` ({len(back)} {READ_BACK})"
        parts.append(words)
    return f"Orders that come out right: {' and '.join(parts)}."
