# SPDX-License-Identifier: Apache-2.0
"""The precision that the machine allows, and points less precise than their neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nhalf.base.listing import few
from nhalf.base.numbers import half_width_text, percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.certainty.precision import (
    BLIND,
    ReachedPrecision,
    reach,
    target,
    worse_than_neighbours,
)
from nhalf.facts.facts import Facts
from nhalf.facts.series import full_name
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count

NAMED_MAX = 3
REMEDY = "Measure again: nhalf run --resume RUN --budget 1m."
FEW_LAUNCHES = 2
"""An interval over this few launches is wide even on a quiet machine."""


class PrecisionMissed(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        reached = reach(facts)
        if reached is not None:
            yield _allowed(reached, target(facts))
        worse = list(worse_than_neighbours(facts).iter_rows(named=True))
        unusable = [row for row in worse if row["half_width"] >= BLIND]
        wide = [row for row in worse if row["half_width"] < BLIND]
        if unusable:
            yield _points(unusable, "unusable, with intervals wider than the times themselves")
        if len(wide) == 1:
            yield _point(wide[0])
        elif wide:
            yield _points(wide, "less precise than their neighbours")


def _point(row: Row) -> Finding:
    """One point with its precision and that of its neighbours."""
    return Finding(
        f"{_name(row)} is less precise than its neighbours: {format_time(row['median_s'])} "
        f"{half_width_text(row['half_width'])}, against {half_width_text(row['neighbours'])} "
        "beside it.",
        importance=20,
        kind="precision-missed",
        remedy=REMEDY,
        figure=half_width_text(row["half_width"]),
        value=row["half_width"],
        mpi=row["mpi"],
        pattern=row["pattern"],
        size_bytes=row["bytes"],
    )


def _points(rows: Sequence[Row], complaint: str) -> Finding:
    """Several points in a line, the worst first."""
    verb = "is" if len(rows) == 1 else "are"
    names = few([_name(row) for row in rows], NAMED_MAX)
    return Finding(
        f"{count(len(rows), 'point')} {verb} {complaint}: {names}.",
        importance=21,
        kind="precision-missed",
        remedy=REMEDY,
        value=len(rows),
        mpi=rows[0]["mpi"],
        pattern=rows[0]["pattern"],
        size_bytes=rows[0]["bytes"],
    )


def _name(row: Row) -> str:
    return f"{row['series']}, {full_name(row)} of {format_size(row['bytes'])}"


def _allowed(reached: ReachedPrecision, target_share: float) -> Finding:
    """The precision that the machine's noise allows."""
    low, high = reached.launches
    launches = f"{low}" if low == high else f"{low} to {high}"
    usual, most = map(half_width_text, (reached.half_width_share, reached.most_share))
    bound = f" (95 % of points within {most})" if reached.most_share < BLIND else ""
    text = (
        f"Half-width {usual} with {launches} launches{bound}; the target of "
        f"±{percent(target_share, None)} was not reached."
    )
    if reached.half_width_share >= BLIND:
        why = "Too few launches" if high <= FEW_LAUNCHES else "This machine was too busy"
        text = (
            f"{why}: with {launches} launches, half of the intervals are wider than the times "
            "themselves, too wide to compare libraries."
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
