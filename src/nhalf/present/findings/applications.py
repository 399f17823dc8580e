# SPDX-License-Identifier: Apache-2.0
"""Where one library, programming model or shape runs applications faster than another."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.facts.application_races import Race, series_races, shape_races
from nhalf.facts.applications import pattern_of
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, times, weight

KERNELS_MAX = 4


class Applications(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for race in series_races(facts):
            place = f"on {race.place['workers']} ranks or threads"
            yield from _both(race, place, "application-library", "Applications")
        for race in shape_races(facts):
            place = f"{race.place['series']}, {race.place['workers']} ranks"
            yield from _both(race, place, "application-shape", "Shapes of applications")


def _both(race: Race, place: str, kind: str, label: str) -> Iterator[Finding]:
    """A sentence for each of the two, if it wins anything."""
    for one in (race, race.reversed):
        wins = one.wins()
        if not wins:
            continue
        most, ratio = next(iter(wins.items()))
        also = f" Also faster in {few(list(wins)[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
        yield Finding(
            f"{one.second} runs {most} {times(ratio.median)} as fast as {one.first}, {place} "
            f"({between(ratio)}).{also}",
            importance=weight(ratio.median, 54, 72),
            kind=kind,
            label=label,
            value=ratio.median,
            low=ratio.low,
            high=ratio.high,
            pattern=pattern_of(most),
        )
