"""Ranks of a virtual machine that go on no more: they wait for something outside MPI, or compute.

Virtual time shows who waits in MPI for ever. Waits outside it have a limit of real time only: a
rank that looks for a file again and again moves its virtual clock, by sleep or by reading it, so
what counts are messages and how far each rank has come.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from nhalf.base.launch.process_table import is_running
from nhalf.base.units import format_duration
from nhalf.measure.virtual.progress import VirtualProgress
from nhalf.measure.virtual.region import Presence, RankRecord, Region

LOOK_S = 1.0


class Standstill:
    """The time since which no rank has gone on; `reason` names who holds up the others."""

    def __init__(
        self, region: Region, ranks: int, timeout_s: float, progress: VirtualProgress | None = None
    ) -> None:
        """Begin to look; `progress` says how far the ranks are."""
        self._region = region
        self._ranks = ranks
        self._timeout_s = timeout_s
        self._progress = progress
        self._members: list[RankRecord] = []
        self._since_s = self._looked_s = time.monotonic()
        self.is_over = False
        """Whether the limit is exceeded."""

    @property
    def reason(self) -> str:
        """Why to give up; '' while the limit is not exceeded."""
        now_s = time.monotonic()
        if now_s - self._looked_s < min(LOOK_S, self._timeout_s):
            return ""
        self._looked_s = now_s
        members = self._region.members(self._ranks)
        if self._progress:
            self._progress.look(members)
        if _progress(members) != _progress(self._members):
            self._since_s = now_s
        self._members = members
        if now_s - self._since_s < self._timeout_s:
            return ""
        self.is_over = True
        return f"no rank went on for {format_duration(self._timeout_s)}: {self._holder()}"

    def _holder(self) -> str:
        """Who holds up the others."""
        absent = [
            rank for rank, member in enumerate(self._members) if member.presence == Presence.ABSENT
        ]
        if absent:
            number_more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            return f"rank {absent[0]}{number_more} did not get to its first message"
        if all(member.presence >= Presence.FINISHED for member in self._members):
            return self._late()
        owner = self._region.owner
        process = self._members[owner].process
        return (
            f"rank {owner} (process {process}) computes (then raise --timeout) or waits outside MPI"
        )

    def _late(self) -> str:
        """Who has not ended though all are through MPI_Finalize."""
        for rank, member in enumerate(self._members):
            if is_running(member.process):
                return (
                    f"rank {rank} (process {member.process}) works on after MPI_Finalize "
                    "(then raise --timeout) or waits for something"
                )
        return "all ranks ended, their launcher did not"


def _progress(members: Sequence[RankRecord]) -> list[tuple[Presence, int]]:
    """What changes while ranks go on."""
    return [(member.presence, member.messages) for member in members]
