# SPDX-License-Identifier: Apache-2.0
"""Where one library, programming model or shape runs applications faster than another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nhalf.base.listing import few
from nhalf.facts.application_races import Race, series_races, shape_races
from nhalf.facts.applications import pattern_of
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, times, weight
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4
PLACES_MAX = 3


class Applications(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        kind, label = "application-library", "Applications"
        yield from _told(series_races(facts), _workers, kind, label)
        kind, label = "application-shape", "Shapes of applications"
        yield from _told(shape_races(facts), _library_and_ranks, kind, label)


def _workers(race: Race) -> str:
    one = race.place["workers"] == 1
    return f"on {race.place['workers']} {'rank or thread' if one else 'ranks or threads'}"


def _library_and_ranks(race: Race) -> str:
    one = race.place["workers"] == 1
    return f"{race.place['series']}, {race.place['workers']} {'rank' if one else 'ranks'}"


def _told(
    races: Iterable[Race], place: Callable[[Race], str], kind: str, label: str
) -> Iterator[Finding]:
    """A sentence for each winner over another in a run: where it wins most, and where besides."""
    won: dict[tuple[object, str, str], list[Race]] = {}
    for race in races:
        for one in (race, race.reversed):
            if one.wins():
                won.setdefault((one.place["run"], one.first, one.second), []).append(one)
    for found in won.values():
        first, *others = sorted(found, key=lambda one: -_most(one)[1].median)
        elsewhere = [
            f"{place(one)} ({_most(one)[0]} {times(_most(one)[1].median)})" for one in others
        ]
        likewise = f" Likewise {few(elsewhere, PLACES_MAX)}." if elsewhere else ""
        yield _finding(first, place(first), likewise, kind, label)


def _most(race: Race) -> tuple[str, Interval]:
    """The kernel that the second wins by most."""
    return next(iter(race.wins().items()))


def _finding(race: Race, place: str, likewise: str, kind: str, label: str) -> Finding:
    wins = list(race.wins())
    most, ratio = _most(race)
    also = f" Also faster in {few(wins[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
    return Finding(
        f"{race.second} runs {most} {times(ratio.median)} as fast as {race.first}, {place} "
        f"({between(ratio)}).{also}{likewise}",
        importance=weight(ratio.median, 54, 72),
        kind=kind,
        label=label,
        value=ratio.median,
        low=ratio.low,
        high=ratio.high,
        pattern=pattern_of(most),
    )
