# SPDX-License-Identifier: Apache-2.0
"""Which library is fastest for small, medium and large messages."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size
from nhalf.facts.contests import CLASSES, Contest
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, sentence, times, weight


class FastestLibrary(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for contest in facts.contests():
            for name, low, high in CLASSES:
                sizes = contest.sizes(low, high)
                if sizes:
                    yield from _fastest_of(contest, name, sizes)


def _fastest_of(contest: Contest, name: str, sizes: list[int]) -> Iterator[Finding]:
    standing = contest.standing(sizes)
    behind, level = standing.behind, standing.level
    if not behind:
        return
    words = ", ".join(
        f"{contest.titles[other]} {'' if number else 'takes '}{times(interval.median)}"
        + (f" ({ends(interval)})" if number else f" as long ({between(interval)})")
        for number, (other, interval) in enumerate(behind)
    )
    leaders = " or ".join(contest.titles[mpi] for mpi in (standing.best, *level))
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    worst = behind[-1][1]
    yield Finding(
        f"{leaders} is fastest for {name} messages ({first} to {last}"
        f"{'; too close to tell apart' if level else ''}). {words}.",
        importance=weight(worst.median, 50, 75),
        kind=f"fastest-{name}",
        label=f"{sentence(name)} messages",
        value=worst.median,
        low=worst.low,
        high=worst.high,
        mpi=standing.best,
    )
