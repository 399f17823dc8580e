# SPDX-License-Identifier: Apache-2.0
"""The fastest library in collective operations, small and large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nhalf.base.listing import few, listed
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
    largest = max(operations, key=lambda match: match.behind.median)
    where = f" on {largest.where}" if largest.where else ""
    return Finding(
        f"{sentence(name)} collectives: {_who_leads(operations)}. Most in "
        f"{largest.pattern}{where}: {largest.worst} takes {_how_long(largest)}.",
        importance=weight(largest.behind.median, 48, 72),
        kind=f"collectives-{name}",
        label=f"Collectives, {name}",
        interval=largest.behind,
        mpi=largest.mpi,
        pattern=largest.pattern,
    )


def _how_long(match: Match) -> str:
    """'1.3x as long as MPICH at 8 B to 2.7x at 1 KiB', or one ratio with its interval.

    Where it is faster at some size: '2.7x as long as MPICH at 1 KiB, but 0.83x at 8 B'.
    """
    if match.first_bytes == match.last_bytes:
        place = f" at {format_size(match.first_bytes)}" if match.first_bytes else ""
        ratio = f"{times(match.behind.median)} as long as {match.best}{place}"
        return f"{ratio} ({between(match.behind)})"
    (low_bytes, low), (high_bytes, high) = match.smallest_ratio, match.largest_ratio
    if times(low) == times(high):
        sizes = size_range(match.first_bytes, match.last_bytes)
        ratio = f"{times(match.behind.median)} as long as {match.best}, on average over {sizes}"
        return f"{ratio} ({between(match.behind)})"
    if low < 1:
        ratio = f"{times(high)} as long as {match.best} at {format_size(high_bytes)}"
        return f"{ratio}, but {times(low)} at {format_size(low_bytes)}"
    return (
        f"{times(low)} as long as {match.best} at {format_size(low_bytes)} to {times(high)} at "
        f"{format_size(high_bytes)}"
    )


def _who_leads(operations: list[Match]) -> str:
    """'A is fastest in 4 of 6 operations where libraries differ; B is in reduce and scan'.

    With several settings of an operation: 'A is fastest in reduce and bcast (2 ranks); B is in
    bcast (8 ranks)'.
    """
    wins = Counter(match.best for match in operations)
    leader, won = wins.most_common(1)[0]
    of = "operation" if len(operations) == 1 else f"of {len(operations)} operations"
    patterns = {library: few(_won(operations, library), OPERATIONS_MAX) for library in wins}
    first = patterns.pop(leader)
    if not any(match.where for match in operations):
        first = f"{won} {of} where libraries differ"
    further = "".join(f"; {library} is in {names}" for library, names in patterns.items())
    return f"{leader} is fastest in {first}{further}"


def _won(operations: list[Match], library: str) -> list[str]:
    """The operations in which a library is fastest, with where if another is elsewhere."""
    patterns = sorted({match.pattern for match in operations if match.best == library})
    return [pattern + _where(operations, pattern, library) for pattern in patterns]


def _where(operations: list[Match], pattern: str, library: str) -> str:
    """' (2 and 4 ranks)': the settings in which a library wins an operation; '' if in all."""
    contests = [match for match in operations if match.pattern == pattern]
    won = [match.where for match in contests if match.best == library]
    if len(won) == len(contests):
        return ""
    numbers = [where.removesuffix(" ranks") for where in won]
    if all(number.isdecimal() for number in numbers):
        return f" ({listed(numbers)} ranks)"
    return f" ({'; '.join(won)})"
