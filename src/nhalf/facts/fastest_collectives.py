# SPDX-License-Identifier: Apache-2.0
"""Collective operations in which one library is significantly slower than another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nhalf.base.operations import COLLECTIVES, NATIVE
from nhalf.facts.contests import contests
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import Interval


@dataclass(frozen=True)
class Match:
    """The fastest and the slowest library, by title, of one operation in one setting.

    `mpi` is the name of the fastest, `behind` the slowest one's time over its.
    """

    pattern: str
    best: str
    worst: str
    mpi: str
    behind: Interval


@fact
def matches(facts: Facts, low: int, high: int) -> Iterator[Match]:
    """Every operation in which libraries differ at sizes from `low` to `high` bytes."""
    for pattern in COLLECTIVES:
        for contest in contests(facts, pattern):
            sizes = contest.sizes(low, high)
            own = contest.setting["algorithm"] in (NATIVE, "") and not contest.setting["axes"]
            if not (own and sizes):
                continue
            best, *_, worst = contest.ranking(sizes)
            interval = contest.behind(worst, best, sizes)
            if interval is not None:
                titles = contest.titles
                yield Match(pattern, titles[best], titles[worst], best, interval)
