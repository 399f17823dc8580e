# SPDX-License-Identifier: Apache-2.0
"""The longest time of all, where it is one that people notice: a finding."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import full_name
from nhalf.present.findings import Finder, Finding

NOTICED_S = 0.1


class LongWait(Finder[Facts]):
    """One sentence, or none."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        """The slowest point, where it is slow enough."""
        for row in facts.sound.sort("median_s").tail(1).to_dicts():
            if row["median_s"] > NOTICED_S:
                yield Finding(
                    f"{full_name(row)} takes {format_time(row['median_s'])}.",
                    importance=40,
                    kind="long-wait",
                    label="Long wait",
                    figure=format_time(row["median_s"]),
                )
