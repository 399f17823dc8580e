# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a run were, from what each of them said when it began."""

from __future__ import annotations

import msgspec

from nhalf.store.journal import events_named
from nhalf.store.run import JOURNAL, Run

Start = tuple[str, int, str]
"""A way to start: the library (or the transport without one), number of ranks, placement."""


class Place(msgspec.Struct, frozen=True):
    """Host, core and memory domain of a rank; `cpu` is certain where it may run on one only."""

    host: str
    cpu: int = -1
    allowed_cpus: list[int] = []
    numa: int = 0

    @property
    def pinned(self) -> bool:
        """Whether the rank stays on its core."""
        return len(self.allowed_cpus) == 1


class _Launch(msgspec.Struct):
    """What a line of the journal says about a launch."""

    subject: str
    ranks: int = 0
    asked_placement: str = ""
    placement: list[Place] = []


def places(run: Run) -> dict[Start, list[Place]]:
    """Rank by rank the places in the first launch of each way to start.

    Raises InputError when the journal is damaged; a run without one has none.
    """
    found: dict[Start, list[Place]] = {}
    for launch in events_named("launch", run.path / JOURNAL, _Launch):
        start = (launch.subject, launch.ranks, launch.asked_placement)
        found.setdefault(start, launch.placement)
    return found
