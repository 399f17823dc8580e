# SPDX-License-Identifier: Apache-2.0
"""How a replaced barrier or decision table affects applications."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import percent, times
from nhalf.facts.applications import Race, part_races, pattern_of
from nhalf.facts.difference import FASTER
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, weight
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4


class ApplicationParts(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for race in part_races(facts):
            library = str(race.place["library"])
            title = f"{facts.titles.get(library, library)}, {ranks_text(race.place['workers'])}"
            for speed, direction in (("fast", race), ("slow", race.reversed)):
                wins = direction.wins()
                if wins:
                    yield _changed(title, race.second, speed, wins)
            unchanged = [name for name, ratio in race.ratios.items() if _is_unchanged(ratio)]
            if unchanged:
                yield _unchanged(title, race, unchanged)


def _is_unchanged(ratio: Interval) -> bool:
    return ratio.low > 1 / FASTER and ratio.high < FASTER


def _changed(title: str, part: str, speed: str, wins: dict[str, Interval]) -> Finding:
    most, ratio = next(iter(wins.items()))
    also = f" Also {few(list(wins)[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
    return Finding(
        f"{title}: with {part}, {most} is {times(ratio.median)} as {speed} as with the "
        f"library's own ({between(ratio)}).{also}",
        importance=weight(ratio.median, 55, 70),
        kind="application-part",
        label="Exchanged parts",
        interval=ratio,
        pattern=pattern_of(most),
    )


def _unchanged(title: str, race: Race, kernels: list[str]) -> Finding:
    widest = max((race.ratios[name] for name in kernels), key=lambda ratio: ratio.half_width)
    return Finding(
        f"{title}: {race.second} instead of the library's own changes {few(kernels, KERNELS_MAX)} "
        f"by less than {percent(FASTER - 1)} (widest interval {ends(widest)}).",
        importance=44,
        kind="application-part-same",
        label="Exchanged parts",
        figure="no change",
        interval=widest,
    )
