# SPDX-License-Identifier: Apache-2.0
"""Livermore kernels before and after they were transformed, next to their bounds."""

from __future__ import annotations

from nhalf.base.numbers import fixed, percent
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.loops.livermore.titles import PATTERN
from nhalf.loops.livermore.tuned import TUNED
from nhalf.present.panels import Panel, Table


class TunedKernels(Panel[Facts]):
    title = "Plain, tuned and bound"
    how_to_read = (
        "Cycles per iteration in the fastest build of each kernel: its bound, the source as it is "
        "defined, and transformed; without the chain that bounds, more than 100 % is possible."
    )
    order = 77
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> Table | None:
        quickest: dict[tuple[int, bool], Row] = {}
        for row in sorted(facts.results.get("ladder", []), key=lambda row: row["cycles"]):
            quickest.setdefault((row["number"], row["is_tuned"]), row)
        rows = [
            _cells(plain, tuned)
            for number in TUNED
            if (plain := quickest.get((number, False))) and (tuned := quickest.get((number, True)))
        ]
        columns = ["kernel", "bound", "plain", "tuned", "plain share", "share", "transformations"]
        return Table(columns, rows) if rows else None


def _cells(plain: Row, tuned: Row) -> list[str]:
    cycles = [plain["ma_cycles"], plain["cycles"], tuned["cycles"]]
    shares = [plain["share"], tuned["share"]]
    return [
        plain["kernel"],
        *("–" if count is None else fixed(count, 2) for count in cycles),
        *("–" if share is None else percent(share) for share in shares),
        ", ".join(TUNED[plain["number"]]),
    ]
