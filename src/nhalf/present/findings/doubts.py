# SPDX-License-Identifier: Apache-2.0
"""Each kind of advice that points carry, once, with how many points carry it."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.listing import few
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names, with_series
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence
from nhalf.statistics.advice import advice

DOUBT_WEIGHTS = {"oversubscribed": 35, "unpinned": 34, "one-launch": 30, "bimodal": 28, "drift": 26}
"""Doubts that bend results weigh more than those that widen intervals."""

NAMES_MAX = 6

SAID_ELSEWHERE = {"unverified", "imprecise"}
"""Advice with a finding of its own."""


class Doubts(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        carried = with_series(data.summary, data).explode("advice").drop_nulls("advice")
        carried = carried.filter(~pl.col("advice").is_in(list(SAID_ELSEWHERE)))
        total = data.summary.height
        everyone = len(series_names(data))
        for (name,), frame in carried.group_by("advice", maintain_order=True):
            what, remedy = _doubt(str(name))
            libraries = sorted(frame["series"].unique())
            where = "" if len(libraries) == everyone else f" ({few(libraries, NAMES_MAX)})"
            yield Finding(
                f"{sentence(what)}: {frame.height} of {count(total, 'point')}{where}.",
                importance=DOUBT_WEIGHTS.get(str(name), 22) + 4 * frame.height / total,
                kind=str(name),
                remedy=f"{sentence(remedy)}." if remedy else "",
                value=frame.height,
            )


def _doubt(name: str) -> tuple[str, str]:
    """The words for an advice and its remedy; one that is not known speaks for itself."""
    try:
        known = advice(name)
    except InputError:
        return f"the advice {name!r} was given", ""
    return known.what, known.remedy
