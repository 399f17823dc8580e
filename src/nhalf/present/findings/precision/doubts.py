# SPDX-License-Identifier: Apache-2.0
"""Each kind of warning that points carry, once, with the number of points."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.facts.certainty.precision import point_warnings
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence

DOUBT_WEIGHTS = {
    "oversubscribed": 35,
    "unpinned": 34,
    "one-launch": 30,
    "bimodal": 28,
    "launch-apart": 27,
    "drift": 26,
}
"""Warnings about biased results weigh more than those about wide intervals."""

NAMES_MAX = 6

SAID_ELSEWHERE = {"unverified", "imprecise", "virtual"}
"""Warnings that have their own finding, or are said of the whole run."""


class Doubts(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        total = facts.summary.height
        for doubt in point_warnings(facts):
            if doubt.name in SAID_ELSEWHERE:
                continue
            where = "" if doubt.everyone else f" ({few(doubt.series, NAMES_MAX)})"
            yield Finding(
                f"{sentence(doubt.meaning)}: {doubt.points} of {count(total, 'point')}{where}.",
                importance=DOUBT_WEIGHTS.get(doubt.name, 22) + 4 * doubt.points / total,
                kind=doubt.name,
                remedy=f"{sentence(doubt.remedy)}." if doubt.remedy else "",
                value=doubt.points,
            )
