# SPDX-License-Identifier: Apache-2.0
"""Which kernels scale with ranks or threads, and which do not."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.facts.applications import Race, growth, pattern_of
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between

HALF_WIDTH_MAX = 0.25
"""A speed-up with a wider interval is not reported."""


class ApplicationSpeedup(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for race in growth(facts):
            finding = _finding(race)
            if finding:
                yield finding


def _finding(race: Race) -> Finding | None:
    precise = {
        name: ratio for name, ratio in race.ratios.items() if ratio.half_width <= HALF_WIDTH_MAX
    }
    if not precise:
        return None
    ordered = sorted(precise.items(), key=lambda item: item[1].median)
    (worst, low), (best, high) = ordered[0], ordered[-1]
    but = "" if worst == best else f", {worst} {times(low.median)} ({between(low)})"
    return Finding(
        f"{race.place['series']}, from {race.first} to {race.second} ranks or threads: {best} is "
        f"{times(high.median)} as fast ({between(high)}){but}.",
        importance=52,
        kind="application-speedup",
        label="Speed-up",
        interval=low,
        pattern=pattern_of(worst),
    )
