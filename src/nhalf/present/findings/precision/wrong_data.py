# SPDX-License-Identifier: Apache-2.0
"""Data that did not arrive as sent."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.facts import Facts
from nhalf.facts.wrong_data import HEADING, wrong_data
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count

CURVES_MAX = 4


class WrongData(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        wrong = wrong_data(facts)
        if not wrong:
            return
        points = sum(len(curve.sizes_bytes) for curve in wrong)
        more = f"; and {len(wrong) - CURVES_MAX} more" if len(wrong) > CURVES_MAX else ""
        yield Finding(
            f"{HEADING}: {'; '.join(map(str, wrong[:CURVES_MAX]))}{more}. What arrived was not "
            f"what was sent: {count(points, 'point')} without a time.",
            importance=100,
            kind="wrong-data",
            remedy="Do not use this library for these operations.",
            label="Wrong data",
            value=points,
        )
