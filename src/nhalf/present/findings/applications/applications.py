# SPDX-License-Identifier: Apache-2.0
"""Where one library, programming model or shape runs applications faster than another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nhalf.base.listing import few
from nhalf.base.numbers import times
from nhalf.facts.applications import Race, pattern_of, series_races, shape_races
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4
PLACES_MAX = 3


class Applications(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        kind, label = "application-library", "Applications"
        yield from _findings(series_races(facts), _workers, kind, label)
        kind, label = "application-shape", "Shapes of applications"
        yield from _findings(shape_races(facts), _library_and_ranks, kind, label)


def _workers(race: Race) -> str:
    is_single = race.place["workers"] == 1
    return f"on {race.place['workers']} {'rank or thread' if is_single else 'ranks or threads'}"


def _library_and_ranks(race: Race) -> str:
    is_single = race.place["workers"] == 1
    return f"{race.place['series']}, {race.place['workers']} {'rank' if is_single else 'ranks'}"


def _findings(
    races: Iterable[Race], place: Callable[[Race], str], kind: str, label: str
) -> Iterator[Finding]:
    """A sentence for each winner over another in a run: where it wins most, and where besides."""
    won: dict[tuple[object, str, str], list[Race]] = {}
    for race in races:
        for direction in (race, race.reversed):
            if direction.wins():
                won.setdefault(
                    (direction.place["run"], direction.first, direction.second), []
                ).append(direction)
    for races_won in won.values():
        first, *further = sorted(races_won, key=lambda race: -_largest_win(race)[1].median)
        elsewhere = [
            f"{place(race)} ({_largest_win(race)[0]} {times(_largest_win(race)[1].median)})"
            for race in further
        ]
        likewise = f" Likewise {few(elsewhere, PLACES_MAX)}." if elsewhere else ""
        yield _finding(first, place(first), likewise, kind, label)


def _largest_win(race: Race) -> tuple[str, Interval]:
    """The kernel that the second wins by most."""
    return next(iter(race.wins().items()))


def _finding(race: Race, place: str, likewise: str, kind: str, label: str) -> Finding:
    wins = list(race.wins())
    most, ratio = _largest_win(race)
    also = f" Also faster in {few(wins[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
    return Finding(
        f"{race.second} runs {most} {times(ratio.median)} as fast as {race.first}, {place} "
        f"({between(ratio)}).{also}{likewise}",
        importance=weight(ratio.median, 54, 72),
        kind=kind,
        label=label,
        interval=ratio,
        pattern=pattern_of(most),
    )
