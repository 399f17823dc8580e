# SPDX-License-Identifier: Apache-2.0
"""How close loops come to their bounds, and what keeps most of them from reaching it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean, median

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.loops.livermore.titles import PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence


class Ladder(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = sorted(facts.results.get("ladder", []), key=lambda row: row["cycles"])
        quickest, tuned = _first(rows, is_tuned=False), _first(rows, is_tuned=True)
        shares = [row["share"] for row in quickest.values() if row["share"] is not None]
        if shares:
            share = median(shares)
            ends = f"from {percent(min(shares))} up to {percent(max(shares))}"
            text = (
                f"In their fastest builds, {count(len(shares), 'kernel')} reach {percent(share)} "
                f"of the rate that bounds them (median), {ends}."
            )
            yield Finding(
                text, 45, "bound-reached", figure=percent(share), pattern=PATTERN, label="Bounds"
            )
        causes = Counter((r["cause"], r["remedy"]) for r in quickest.values() if r["cause"])
        for (cause, remedy), kernels in causes.most_common(1):
            yield Finding(
                f"{sentence(cause)}: the largest loss in {count(kernels, 'kernel')}.",
                44,
                "bound-missed",
                remedy=f"{sentence(remedy)}.",
                figure=count(kernels, "kernel"),
                pattern=PATTERN,
                label="Losses",
            )
        yield from _tuned(quickest, tuned)


def _first(rows: Iterable[Row], *, is_tuned: bool) -> dict[int, Row]:
    """The first row of each kernel, plain or tuned."""
    first_rows: dict[int, Row] = {}
    for row in rows:
        if row["is_tuned"] == is_tuned:
            first_rows.setdefault(row["number"], row)
    return first_rows


def _tuned(quickest: Mapping[int, Row], tuned: Mapping[int, Row]) -> Iterator[Finding]:
    """Compare what transformed kernels reach with what they reached before."""
    shares = [
        (quickest[number]["share"], row["share"])
        for number, row in tuned.items()
        if row["share"] is not None and number in quickest and quickest[number]["share"] is not None
    ]
    if not shares:
        return
    before = fmean(min(1.0, plain) for plain, _ in shares)
    after = fmean(min(1.0, share) for _, share in shares)
    yield Finding(
        f"{count(len(shares), 'tuned kernel')} reach {percent(after)} of the bounding rate on "
        f"average, the same kernels before {percent(before)} (each counts 100 % at most).",
        43,
        "tuned-reached",
        figure=percent(after),
        pattern=PATTERN,
        label="Tuned",
    )
