# SPDX-License-Identifier: Apache-2.0
"""The verdict of a report on applications: what to run them with, and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from nhalf.base.listing import few
from nhalf.facts.application_races import Race, series_races
from nhalf.facts.facts import Facts
from nhalf.present.verdict import SURE, and_more
from nhalf.present.wording import between, times
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4
UNDECIDED = (
    "No library or programming model runs these applications significantly faster than another: "
    "take the one that you have. More launches would narrow the intervals."
)


def application_verdict(facts: Facts) -> str:
    """Two or three sentences about the most ranks or threads that several entrants ran on.

    The one that wins most kernels over others, less those that it loses, is recommended. '' where
    there is nothing to choose between.
    """
    here = _largest(list(series_races(facts)))
    if not here:
        return ""
    won = list(_wins(here))
    if not won:
        return UNDECIDED
    score = Counter(one.second for one, _, _ in won)
    score.subtract(one.first for one, _, _ in won)
    best = max(sorted(score), key=lambda name: score[name])
    sentences = [
        _recommended(best, here[0].place["workers"], [x for x in won if x[0].second == best]),
        _exceptions(best, [x for x in won if x[0].first == best]),
        _sureness(best, here),
    ]
    return " ".join(filter(None, sentences))


def _largest(races: Sequence[Race]) -> list[Race]:
    """Those in the place with the most ranks or threads, of the first run that has it."""
    if not races:
        return []
    place = max(races, key=lambda race: int(str(race.place["workers"]))).place
    return [race for race in races if race.place == place]


def _wins(races: Sequence[Race]) -> Iterator[tuple[Race, str, Interval]]:
    """Every kernel that the second of a race, or of its reversal, is faster in."""
    for race in races:
        for one in (race, race.reversed):
            for kernel, ratio in one.wins().items():
                yield one, kernel, ratio


def _recommended(best: str, workers: object, won: Sequence[tuple[Race, str, Interval]]) -> str:
    race, kernel, ratio = max(won, key=lambda x: x[2].median)
    kernels = sorted({name for _, name, _ in won})
    where = "1 rank or thread" if workers == 1 else f"{workers} ranks or threads"
    return (
        f"Use {best} on {where}: faster in {few(kernels, KERNELS_MAX)}; {kernel} is "
        f"{times(ratio.median)} as fast as with {race.first} ({between(ratio)})."
    )


def _exceptions(best: str, lost: Sequence[tuple[Race, str, Interval]]) -> str:
    """Where another is faster than the recommended one: the strongest case, and the number."""
    if not lost:
        return ""
    race, kernel, ratio = max(lost, key=lambda x: x[2].median)
    more = and_more(len({name for _, name, _ in lost}) - 1)
    return f"Except in {kernel}, where {race.second} is {times(ratio.median)} as fast{more}."


def _sureness(best: str, here: Sequence[Race]) -> str:
    """The kernels in which nothing separates the recommended one from another, by rival."""
    level = {}
    for race in here:
        if best in (race.first, race.second):
            rival = race.second if best == race.first else race.first
            level[rival] = sorted(race.ratios.keys() - {*race.wins(), *race.reversed.wins()})
    open_ones = [f"{rival} in {few(names, KERNELS_MAX)}" for rival, names in level.items() if names]
    if not open_ones:
        return SURE
    return f"Not sure against {' and '.join(open_ones)}: the intervals leave it open."
