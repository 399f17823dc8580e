# SPDX-License-Identifier: Apache-2.0
"""Which library is fastest in collective operations, small and large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.base.operations import NATIVE, OPERATIONS
from nhalf.facts.contests import CLASSES, beyond, contests
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import FASTER, between, times, weight
from nhalf.statistics.intervals import Interval


@dataclass(frozen=True)
class _Match:
    """The fastest and the slowest library of one operation in one setting."""

    pattern: str
    best: str
    worst: str
    mpi: str
    behind: Interval


class FastestCollectives(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        for name, low, high in CLASSES:
            matches = list(_matches(data, low, high))
            if matches:
                yield _finding(name, matches)


def _matches(data: Facts, low: int, high: int) -> Iterator[_Match]:
    """Every operation in which one library is behind another beyond doubt."""
    for pattern in OPERATIONS:
        for contest in contests(data, pattern):
            sizes = contest.sizes(low, high)
            if (
                contest.setting["axes"]
                or contest.setting["algorithm"] not in (NATIVE, "")
                or not sizes
            ):
                continue
            best, *_, worst = contest.ranking(sizes)
            interval = beyond(contest.ratios(worst, best, sizes), FASTER)
            if interval is not None:
                titles = contest.titles
                yield _Match(pattern, titles[best], titles[worst], best, interval)


def _finding(name: str, matches: list[_Match]) -> Finding:
    """One sentence for all operations of a size class."""
    wins = Counter(match.best for match in matches)
    leader, won = wins.most_common(1)[0]
    largest = max(matches, key=lambda match: match.behind.median)
    of = "operation" if len(matches) == 1 else f"of {len(matches)} operations"
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
