# SPDX-License-Identifier: Apache-2.0
"""How close loops come to their bounds, and what keeps most of them from reaching it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.node.livermore.titles import PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, percent, sentence


class Ladder(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        quickest: dict[int, Row] = {}
        for row in sorted(facts.results.get("ladder", []), key=lambda row: row["cycles"]):
            quickest.setdefault(row["number"], row)
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
                figure=f"{kernels}",
                pattern=PATTERN,
                label="Losses",
            )
