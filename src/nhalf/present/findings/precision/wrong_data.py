# SPDX-License-Identifier: Apache-2.0
"""Data that did not arrive as sent."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count


class WrongData(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        wrong = with_series(facts.summary.filter(~pl.col("verified")), facts)
        if wrong.is_empty():
            return
        names = ", ".join(sorted(wrong["series"].unique()))
        yield Finding(
            f"Data arrived corrupted in {count(wrong.height, 'point')} ({names}): "
            "their times are invalid.",
            importance=100,
            kind="wrong-data",
            label="Wrong data",
            value=wrong.height,
        )
