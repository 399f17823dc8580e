# SPDX-License-Identifier: Apache-2.0
"""The precision that the machine allows, and points less precise than their neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import half_width_text
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.precision import BLIND, Reach, reach, target, worse_than_neighbours
from nhalf.facts.series import full_name
from nhalf.present.findings import Finder, Finding

NAMED_MAX = 3
FEW_LAUNCHES = 2
"""An interval over this few launches is wide even on a quiet machine."""


class PrecisionMissed(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        reached = reach(facts)
        if reached is not None:
            yield _allowed(reached, target(facts))
        for row in worse_than_neighbours(facts).head(NAMED_MAX).iter_rows(named=True):
            yield Finding(
                f"{row['series']}, {full_name(row)} of {format_size(row['bytes'])} is less precise "
                f"than its neighbours: {format_time(row['median_s'])} "
                f"{half_width_text(row['half_width'])}, against "
                f"{half_width_text(row['neighbours'])} beside it.",
                importance=20,
                kind="precision-missed",
                remedy="Measure it again: nhalf run --resume RUN --budget 1m.",
                figure=half_width_text(row["half_width"]),
                value=row["half_width"],
                mpi=row["mpi"],
                pattern=row["pattern"],
                size_bytes=row["bytes"],
            )


def _allowed(reached: Reach, target_share: float) -> Finding:
    """The precision that the machine's noise allows."""
    low, high = reached.launches
    launches = f"{low}" if low == high else f"{low} to {high}"
    usual, most = map(half_width_text, (reached.half_width_share, reached.most_share))
    text = (
        f"The noise of this machine allows {usual} with {launches} launches (95 % of the points "
        f"are within {most}); ±{target_share * 100:.3g} % was asked for."
    )
    if reached.half_width_share >= BLIND:
        why = "There were too few launches" if high <= FEW_LAUNCHES else "This machine was too busy"
        text = (
            f"{why} to be sure: with {launches} launches, half of the intervals are wider than the "
            "times themselves."
        )
    return Finding(
        text,
        importance=25 if reached.half_width_share < BLIND else 39,
        kind="precision-allowed",
        remedy="Leave the machine to itself, or spread more launches over a longer time: "
        "nhalf run --resume RUN --budget 5m.",
        figure=usual,
        value=reached.half_width_share,
    )
