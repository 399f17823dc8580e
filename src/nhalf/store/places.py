# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a run were, as each reported at its start, and how long they took to start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from nhalf.base.errors import InputError
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
    """The fields of a launch in the journal; `start_s` is what its ranks took to start."""

    subject: str
    ranks: int = 0
    asked_placement: str = ""
    placement: list[Place] = []
    start_s: float | None = None


def places(run: Run) -> dict[Start, list[Place]]:
    """The place of every rank in the first launch of each configuration.

    Raises InputError if the journal is damaged; a run without a journal has no places.
    """
    return {start: launches[0] for start, launches in launch_places(run).items()}


def launch_places(run: Run) -> dict[Start, list[list[Place]]]:
    """The places of the ranks in every launch of each configuration, in their order.

    Raises InputError as `places` does.
    """
    places_by_start: dict[Start, list[list[Place]]] = {}
    for start, launch in _launches(run):
        places_by_start.setdefault(start, []).append(launch.placement)
    return places_by_start


def start_times_s(run: Run) -> dict[Start, list[float]]:
    """The seconds that the ranks of each launch took to start, where they are known.

    From starting the launcher until all ranks are ready to be asked. A damaged journal says none.
    """
    times_s: dict[Start, list[float]] = {}
    with suppress(InputError):
        for start, launch in _launches(run):
            if launch.start_s is not None:
                times_s.setdefault(start, []).append(launch.start_s)
    return times_s


def _launches(run: Run) -> Iterator[tuple[Start, _Launch]]:
    for launch in events_named("launch", run.path / JOURNAL, _Launch):
        yield (launch.subject, launch.ranks, launch.asked_placement), launch
