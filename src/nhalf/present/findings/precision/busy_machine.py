# SPDX-License-Identifier: Apache-2.0
"""Other processes left too few cores for the ranks."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.certainty.busy_launches import busy_launches
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count

FIRST = 99
"""What follows is of a busy machine; only wrong data comes before."""


class BusyMachine(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        counts = busy_launches(facts)
        if counts is None:
            return
        cores = f"{counts.taken_cores:.1f} of {count(counts.allowed, 'core')}"
        number = "all" if counts.busy == counts.launches else f"{counts.busy} of {counts.launches}"
        yield Finding(
            f"Other processes kept {cores} busy during {number} launches, so that ranks had to "
            "share cores: times are those of a busy machine, and show how libraries wait there.",
            importance=FIRST,
            kind="busy-machine",
            label="Busy machine",
            remedy="Measure again on an idle machine; nhalf doctor shows its load.",
            value=counts.taken_cores,
            figure=cores,
        )
