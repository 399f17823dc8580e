# SPDX-License-Identifier: Apache-2.0
"""The cost of a random process order, and the reason if there is no effective bandwidth."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import weight
from nhalf.results.b_eff.average import PATTERN

MORE = (
    "Continue the run (--resume), give it a larger --budget, or shorten the longest message: "
    "--bytes b_eff:1M."
)


class BEff(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for row in facts.results.get("b_eff", []):
            name = library_label(facts, row["transport"], row["mpi"])
            who = f"{name} with {row['ranks']} processes"
            if row["missing"]:
                yield _incomplete(who, row)
            elif row.get("subset"):
                yield _estimated(who, row)
            elif "random_ratio_ci" in row and row["random_ratio_ci"][1] < 1 / COSTLY:
                yield _scattered(who, row)


def _incomplete(who: str, row: Row) -> Finding:
    return Finding(
        f"No effective bandwidth for {who}: {row['missing']}.",
        importance=32,
        kind="b-eff-incomplete",
        remedy=MORE,
        mpi=row["mpi"],
        pattern=PATTERN,
    )


def _estimated(who: str, row: Row) -> Finding:
    return Finding(
        f"{who}: the effective bandwidth, {format_rate(row['b_eff_Bps'])}, is an estimate from a "
        f"part of its points: {row['subset']}.",
        importance=33,
        kind="b-eff-estimated",
        remedy=MORE,
        figure=format_rate(row["b_eff_Bps"]),
        value=row["b_eff_Bps"],
        mpi=row["mpi"],
        pattern=PATTERN,
        label="Effective bandwidth",
    )


def _scattered(who: str, row: Row) -> Finding:
    share, (low, high) = row["random_ratio"], row["random_ratio_ci"]
    return Finding(
        f"{who}: when neighbours are spread at random, all processes together reach "
        f"{percent(share)} of the bandwidth of rings of neighbours (interval "
        f"{share_span(low, high)}).",
        importance=weight(share, 45, 70),
        kind="random-neighbours",
        remedy="Number processes so that those that communicate are close to each other.",
        value=share,
        low=low,
        high=high,
        mpi=row["mpi"],
        pattern=PATTERN,
        label="Random neighbours",
        figure=percent(share),
    )
