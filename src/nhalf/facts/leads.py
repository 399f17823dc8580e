"""The fastest library for small, medium and large messages, over all patterns of two ranks.

A library that leads in one pattern may be behind in another, or at some sizes of the same one: each
lead lists the patterns that agree and the exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from nhalf.facts.contests import CLASSES, Contest, Standing, contests
from nhalf.facts.difference import COSTLY, FASTER, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, plain_points
from nhalf.statistics.intervals import Interval


@dataclass(frozen=True)
class Exemption:
    """Adjacent sizes of a pattern at which the leader is behind, with the ratio.

    `faster` is the title of the library ahead there, `ratio` the leader's time over its.
    """

    pattern: str
    first_bytes: int
    last_bytes: int
    faster: str
    ratio: Interval


@dataclass(frozen=True)
class Lead:
    """The fastest library at the sizes of a class in one setting.

    The verdict is from `pattern`; `agreeing` are further patterns with the same leader, and
    `exceptions` are sorted, the strongest first.
    """

    size_class: str
    pattern: str
    contest: Contest
    sizes: tuple[int, ...]
    standing: Standing
    agreeing: tuple[str, ...]
    exceptions: tuple[Exemption, ...]

    @property
    def depends_on_size(self) -> bool:
        """Whether libraries are tied over all sizes, though the best is far behind at some."""
        return bool(self.standing.level) and bool(self.cliffs(self.standing.best))

    @property
    def alike(self) -> tuple[str, ...]:
        """The libraries that are as fast as the leader, with no cliffs."""
        return tuple(mpi for mpi in self.standing.level if not self.cliffs(mpi))

    def cliffs(self, mpi: str) -> list[Exemption]:
        """The sizes of the pattern at which a library is far behind another, the worst first."""
        exceptions = _exceptions(self.pattern, self.contest, self.sizes, mpi)
        far_behind = (exception for exception in exceptions if exception.ratio.low > COSTLY)
        return sorted(far_behind, key=lambda exception: -exception.ratio.median)


@fact
def leads(facts: Facts) -> list[Lead]:
    """The lead in every setting and size class in which one library is significantly ahead."""
    return [
        lead
        for _, by_pattern in _settings(facts)
        for name, low, high in CLASSES
        if (lead := _lead(name, by_pattern, low, high)) is not None
    ]


@fact
def _settings(facts: Facts) -> Iterator[tuple[dict[str, Any], dict[str, Contest]]]:
    """Every setting with its contests by pattern, the main pattern first."""
    measured = plain_points(facts)["pattern"].unique().to_list()
    patterns = sorted(measured, key=lambda pattern: (pattern != MAIN_PATTERN, pattern))
    settings: list[tuple[dict[str, Any], dict[str, Contest]]] = []
    for pattern in patterns:
        for contest in contests(facts, pattern):
            if contest.setting["axes"]:
                continue
            for setting, by_pattern in settings:
                if setting == contest.setting:
                    by_pattern[pattern] = contest
                    break
            else:
                settings.append((contest.setting, {pattern: contest}))
    yield from settings


def _lead(size_class: str, contests: dict[str, Contest], low: int, high: int) -> Lead | None:
    """The verdict of the first pattern that has one, and agreement or exceptions of the others."""
    sizes = {pattern: contest.sizes(low, high) for pattern, contest in contests.items()}
    verdicts = {
        pattern: contest.standing(sizes[pattern])
        for pattern, contest in contests.items()
        if sizes[pattern]
    }
    decided = [pattern for pattern, standing in verdicts.items() if standing.behind]
    if not decided:
        return None
    pattern, *further_patterns = decided
    best = verdicts[pattern].best
    exceptions = [
        exception
        for name in verdicts
        if best in contests[name].titles
        for exception in _exceptions(name, contests[name], sizes[name], best)
    ]
    return Lead(
        size_class=size_class,
        pattern=pattern,
        contest=contests[pattern],
        sizes=tuple(sizes[pattern]),
        standing=verdicts[pattern],
        agreeing=tuple(name for name in further_patterns if verdicts[name].best == best),
        exceptions=tuple(sorted(exceptions, key=lambda exception: -exception.ratio.median)),
    )


def _exceptions(
    pattern: str, contest: Contest, sizes: Sequence[int], best: str
) -> Iterator[Exemption]:
    """The runs of adjacent sizes at which another library beats `best` significantly.

    A single size must do so by more, because it was selected among many.
    """
    fastest = _fastest(contest, sizes, best)
    for rival, group in groupby(sizes, key=lambda size: fastest[size]):
        run = list(group)
        if rival == best:
            continue
        ratio = beyond(contest.ratios(best, rival, run), FASTER if len(run) > 1 else COSTLY)
        if ratio is not None:
            yield Exemption(pattern, run[0], run[-1], contest.titles[rival], ratio)


def _fastest(contest: Contest, sizes: Sequence[int], best: str) -> dict[int, str]:
    """The fastest library by size: `best`, unless another's median is lower by more than FASTER."""
    medians = (
        contest.frame.filter(pl.col("bytes").is_in(list(sizes)))
        .group_by("bytes", "mpi")
        .agg(pl.col("median_s").median())
    )
    times: dict[int, dict[str, float]] = {}
    for size, mpi, median_s in medians.iter_rows():
        times.setdefault(size, {})[mpi] = median_s
    return {
        size: min(of, key=lambda mpi: of[mpi] * (1 if mpi != best else 1 / FASTER))
        for size, of in times.items()
    }
