# SPDX-License-Identifier: Apache-2.0
"""The fastest library in collective operations, small and large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.collectives import Match, matches
from nhalf.facts.contests import CLASSES
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, sentence, size_range, weight

OPERATIONS_MAX = 4


class FastestCollectives(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for name, low, high in CLASSES:
            operations = list(matches(facts, low, high))
            if operations:
                yield _finding(name, operations)


def _finding(name: str, operations: list[Match]) -> Finding:
    """One sentence for all operations of a size class."""
    wins = Counter(match.best for match in operations)
    leader, won = wins.most_common(1)[0]
    largest = max(operations, key=lambda match: match.behind.median)
    of = "operation" if len(operations) == 1 else f"of {len(operations)} operations"
    return Finding(
        f"{sentence(name)} collectives: {leader} is fastest in {won} {of} where libraries "
        f"differ{_others(operations)}. Most in {largest.pattern}: {largest.worst} takes "
        f"{_how_long(largest)}.",
        importance=weight(largest.behind.median, 48, 72),
        kind=f"collectives-{name}",
        label=f"Collectives, {name}",
        interval=largest.behind,
        mpi=largest.mpi,
        pattern=largest.pattern,
    )


def _how_long(match: Match) -> str:
    """'1.3x as long as MPICH at 8 B to 2.7x at 1 KiB', or one ratio with its interval."""
    if match.first_bytes == match.last_bytes:
        place = f" at {format_size(match.first_bytes)}" if match.first_bytes else ""
        ratio = f"{times(match.behind.median)} as long as {match.best}{place}"
        return f"{ratio} ({between(match.behind)})"
    (low_bytes, low), (high_bytes, high) = match.smallest_ratio, match.largest_ratio
    if times(low) == times(high):
        sizes = size_range(match.first_bytes, match.last_bytes)
        ratio = f"{times(match.behind.median)} as long as {match.best}, on average over {sizes}"
        return f"{ratio} ({between(match.behind)})"
    return (
        f"{times(low)} as long as {match.best} at {format_size(low_bytes)} to {times(high)} at "
        f"{format_size(high_bytes)}"
    )


def _others(operations: list[Match]) -> str:
    """'; MPICH is in reduce and scan': the operations that the leader does not win."""
    leader = Counter(match.best for match in operations).most_common(1)[0][0]
    won: dict[str, list[str]] = {}
    for match in operations:
        if match.best != leader:
            won.setdefault(match.best, []).append(match.pattern)
    return "".join(
        f"; {library} is in {few(sorted(set(patterns)), OPERATIONS_MAX)}"
        for library, patterns in won.items()
    )
