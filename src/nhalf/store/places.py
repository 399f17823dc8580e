# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a run were, as each reported at its start."""

from __future__ import annotations

import msgspec

from nhalf.store.journal import events_named
from nhalf.store.run import JOURNAL, Run

Start = tuple[str, int, str]
"""A launch configuration: library (or transport without one), number of ranks, placement."""


class Place(msgspec.Struct, frozen=True):
    """Host, core and memory domain of a rank; `cpu` is certain if it may run on only one."""

    host: str
    cpu: int = -1
    allowed_cpus: list[int] = []
    numa: int = 0

    @property
    def pinned(self) -> bool:
        """Whether the rank is bound to its core."""
        return len(self.allowed_cpus) == 1


class _Launch(msgspec.Struct):
    """The fields of a launch in the journal."""

    subject: str
    ranks: int = 0
    asked_placement: str = ""
    placement: list[Place] = []


def places(run: Run) -> dict[Start, list[Place]]:
    """The place of every rank in the first launch of each configuration.

    Raises InputError if the journal is damaged; a run without a journal has no places.
    """
    places_by_start: dict[Start, list[Place]] = {}
    for launch in events_named("launch", run.path / JOURNAL, _Launch):
        start = (launch.subject, launch.ranks, launch.asked_placement)
        places_by_start.setdefault(start, launch.placement)
    return places_by_start
