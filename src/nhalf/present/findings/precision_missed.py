# SPDX-License-Identifier: Apache-2.0
"""How many points missed the precision that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.precision import target
from nhalf.facts.series import full_name
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, half_width_text


class PrecisionMissed(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        points = facts.missed
        if points.is_empty():
            return
        worst = points.row(0, named=True)
        yield Finding(
            f"{points.height} of {count(facts.summary.height, 'point')} did not reach the "
            f"precision of ±{target(facts) * 100:.3g} %; the widest is {worst['series']}, "
            f"{full_name(worst)} of {format_size(worst['bytes'])}: "
            f"{format_time(worst['median_s'])} {half_width_text(worst['half_width'])}.",
            importance=10 + 29 * points.height / facts.summary.height,
            kind="precision-missed",
            remedy="Measure longer (a larger --budget) or more often (--launches).",
            value=points.height,
            mpi=worst["mpi"],
            pattern=worst["pattern"],
            size_bytes=worst["bytes"],
        )
