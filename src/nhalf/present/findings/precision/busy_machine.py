# SPDX-License-Identifier: Apache-2.0
"""Other processes left too few cores for the ranks."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.crowded import crowded
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count

FIRST = 99
"""What follows is of a busy machine; only wrong data comes before."""


class BusyMachine(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        busy = crowded(facts)
        if busy is None:
            return
        cores = f"{busy.taken_cores:.1f} of {count(busy.allowed, 'core')}"
        number = "all" if busy.crowded == busy.launches else f"{busy.crowded} of {busy.launches}"
        yield Finding(
            f"Other processes kept {cores} busy during {number} launches, so that ranks had to "
            "share cores: all times are of a busy machine, and libraries differ by how they wait.",
            importance=FIRST,
            kind="busy-machine",
            label="Busy machine",
            remedy="Measure again on an idle machine; nhalf doctor shows its load.",
            value=busy.taken_cores,
            figure=cores,
        )
