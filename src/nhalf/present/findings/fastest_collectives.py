# SPDX-License-Identifier: Apache-2.0
"""Which library is fastest in collective operations, small and large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nhalf.facts.contests import CLASSES
from nhalf.facts.facts import Facts
from nhalf.facts.fastest_collectives import Match, matches
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, times, weight


class FastestCollectives(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for name, low, high in CLASSES:
            found = list(matches(facts, low, high))
            if found:
                yield _finding(name, found)


def _finding(name: str, found: list[Match]) -> Finding:
    """One sentence for all operations of a size class."""
    wins = Counter(match.best for match in found)
    leader, won = wins.most_common(1)[0]
    largest = max(found, key=lambda match: match.behind.median)
    of = "operation" if len(found) == 1 else f"of {len(found)} operations"
    return Finding(
        f"{leader} is fastest in {won} {of} on {name} data where libraries differ. The largest "
        f"difference is in {largest.pattern}: {largest.worst} takes "
        f"{times(largest.behind.median)} as long as {largest.best} "
        f"({between(largest.behind)}).",
        importance=weight(largest.behind.median, 48, 72),
        kind=f"collectives-{name}",
        label=f"Collectives, {name}",
        value=largest.behind.median,
        low=largest.behind.low,
        high=largest.behind.high,
        mpi=largest.mpi,
        pattern=largest.pattern,
    )
