"""The verdict of a report on applications: what to run them with, and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from nhalf.base.listing import few
from nhalf.base.numbers import times
from nhalf.facts.applications import Race, series_races
from nhalf.facts.facts import Facts
from nhalf.present.verdict import SURE, and_more
from nhalf.present.wording import between
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4
UNDECIDED = (
    "No library or programming model runs these applications significantly faster than another: "
    "take the one that you have. More launches would narrow the intervals."
)


def application_verdict(facts: Facts) -> str:
    """Write two or three sentences about the largest number of workers that several ran on.

    The one with the most kernels won, less those lost, is recommended. '' if there is no choice.
    """
    races = _largest(list(series_races(facts)))
    if not races:
        return ""
    wins = list(_wins(races))
    if not wins:
        return UNDECIDED
    score = Counter(race.second for race, _, _ in wins)
    score.subtract(race.first for race, _, _ in wins)
    best = max(sorted(score), key=lambda name: score[name])
    sentences = [
        _recommended(best, races[0].place["workers"], [x for x in wins if x[0].second == best]),
        _exceptions(best, [x for x in wins if x[0].first == best]),
        _sureness(best, races),
    ]
    return " ".join(filter(None, sentences))


def _largest(races: Sequence[Race]) -> list[Race]:
    """Select the races on the most ranks or threads, in the first run that has them."""
    if not races:
        return []
    place = max(races, key=lambda race: int(str(race.place["workers"]))).place
    return [race for race in races if race.place == place]


def _wins(races: Sequence[Race]) -> Iterator[tuple[Race, str, Interval]]:
    """Yield every win of either entrant: the race with the winner second, kernel and ratio."""
    for race in races:
        for direction in (race, race.reversed):
            for kernel, ratio in direction.wins().items():
                yield direction, kernel, ratio


def _recommended(best: str, workers: object, wins: Sequence[tuple[Race, str, Interval]]) -> str:
    race, kernel, ratio = max(wins, key=lambda x: x[2].median)
    kernels = sorted({name for _, name, _ in wins})
    where = "1 rank or thread" if workers == 1 else f"{workers} ranks or threads"
    return (
        f"Use {best} on {where}: faster in {few(kernels, KERNELS_MAX)}; {kernel} is "
        f"{times(ratio.median)} as fast as with {race.first} ({between(ratio)})."
    )


def _exceptions(best: str, losses: Sequence[tuple[Race, str, Interval]]) -> str:
    """State the strongest case in which another is faster, and count the others."""
    if not losses:
        return ""
    race, kernel, ratio = max(losses, key=lambda x: x[2].median)
    more = and_more(len({name for _, name, _ in losses}) - 1)
    return f"Except in {kernel}, where {race.second} is {times(ratio.median)} as fast{more}."


def _sureness(best: str, races: Sequence[Race]) -> str:
    """List the kernels in which the recommended one and a rival do not differ significantly."""
    level = {}
    for race in races:
        if best in (race.first, race.second):
            rival = race.second if best == race.first else race.first
            level[rival] = sorted(race.ratios.keys() - {*race.wins(), *race.reversed.wins()})
    open_ones = [f"{rival} in {few(names, KERNELS_MAX)}" for rival, names in level.items() if names]
    if not open_ones:
        return SURE
    return f"Not sure against {' and '.join(open_ones)}: the intervals leave it open."
