"""A traced program while it runs: the counters of its ranks, read from the files that they map.

Nothing here disturbs the ranks: files are opened for reading, and no signal or message is sent. On
this host the kernel shows each store at once; what ranks of other hosts wrote comes when the shared
file system shows it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.base.launch.process_table import BEGAN, STATE, status
from nhalf.measure.traced.layout import ProcessFile, ThreadFile, ThreadHead, process_file
from nhalf.measure.traced.reading import TICK_S, VIRTUAL, clock_of
from nhalf.measure.traced.start import RANKS
from nhalf.measure.traced.tables import DESCRIPTION, KINDS
from nhalf.measure.traced.worlds import worlds

RESCAN_S = 1.0
"""How often further ranks are looked for."""
RUNNING, FINISHED, KILLED = "running", "finished", "killed"


SUMS = ("calls", "bytes", "time_s", "waiting_s")
"""What is counted of each kind of call."""


@dataclass(frozen=True)
class RankCounts:
    """What a rank has done so far, (SUMS, KINDS), and its time outside MPI."""

    rank: int
    host: str
    sums_per_kind: Floats
    computing_s: float
    is_up: bool


@dataclass
class LiveRank:
    """A rank's files, and whether it still runs."""

    process: ProcessFile
    head: ThreadHead | None = None
    began: str = ""
    """When its process started, which no other one of its number shares."""
    is_gone: bool = False
    tick_s: float = TICK_S
    """Length of a tick of its clock, as far as it is known yet."""
    _counts: RankCounts | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """Where it runs: on a node of a simulated machine, if on one."""
        file = self.process
        return file.host if file.virtual is None else file.virtual.host(file.rank)

    @property
    def has_finished(self) -> bool:
        """Whether it came to the end of MPI_Finalize."""
        return self.head is not None and bool(self.head.head["finished"])

    @property
    def collectives(self) -> int:
        """How many collective calls of its first thread have ended; 0 before format 5."""
        return 0 if self.head is None else int(self.head.head["collectives"])

    @property
    def computed_s(self) -> float:
        """The time outside MPI before the last of them."""
        return 0.0 if self.head is None else float(self.head.head["computed"]) * self.tick_s

    @property
    def is_here(self) -> bool:
        """Whether its process can be seen from here."""
        return self.process.host == socket.gethostname()

    def look(self) -> None:
        """Read the head of its first thread; one that is not there yet stays as it was."""
        first = next(self._paths(), None)
        if first is not None:
            with suppress(InputError):
                self.head = ThreadHead(first)
                virtual = self.process.virtual is not None
                self.tick_s = VIRTUAL.tick_s if virtual else clock_of([self.head], 0).tick_s
        if not self.is_gone and self.is_here:
            self.is_gone = not self._is_running()

    def counts(self) -> RankCounts | None:
        """Add up what all its threads have counted; None before its first call."""
        with suppress(InputError):
            threads = [ThreadFile(path) for path in self._paths()]
            if threads and self.head is not None:
                self._counts = self._added_up(threads)
        return self._counts

    def _added_up(self, threads: Sequence[ThreadFile]) -> RankCounts:
        cells = np.concatenate([thread.cells for thread in threads])
        kinds = np.minimum(cells["call_and_kind"] & 15, len(KINDS))
        sums = np.array(
            [
                np.bincount(kinds, cells[name].astype(float), len(KINDS) + 1)[: len(KINDS)]
                for name in ("count", "bytes", "time", "waiting")
            ]
        )
        sums[2:] *= self.tick_s
        before = self._counts
        # The longer it runs, the better its clock is known; but counters must not go back.
        if before is not None:
            sums = np.maximum(sums, before.sums_per_kind)
        return RankCounts(
            *(self.process.rank, self.host, sums),
            computing_s=max(self.computed_s, before.computing_s if before else 0.0),
            is_up=not self.is_gone and not self.has_finished,
        )

    def _paths(self) -> Iterator[Path]:
        stem = Path(self.process.path).with_suffix("")
        yield from sorted(stem.parent.glob(f"{escape(stem.name)}-*.counts"))

    def _is_running(self) -> bool:
        """Whether its process is there, and no other one with its number."""
        with suppress(OSError):
            fields = status(self.process.pid)
            self.began = self.began or fields[BEGAN]
            return fields[STATE] not in "ZX" and fields[BEGAN] == self.began
        return False


class LiveTrace:
    """The program that a trace is made of now: the last that the command has started."""

    def __init__(self, folder: Path) -> None:
        """Look into the folder of a trace, which may not be there yet."""
        self.folder = folder
        self.ranks: list[LiveRank] = []
        self._scanned_s = -RESCAN_S
        self._seen: set[str] = set()

    @property
    def size(self) -> int:
        """How many ranks the program has; 0 before any is known."""
        return self.ranks[0].process.size if self.ranks else 0

    @property
    def state(self) -> str:
        """RUNNING, FINISHED, or KILLED where ranks have ended without MPI_Finalize."""
        if self.ranks and all(rank.has_finished for rank in self.ranks):
            return FINISHED
        is_over = (self.folder / DESCRIPTION).is_file() or (
            any(rank.is_gone for rank in self.ranks)
            and all(rank.is_gone or rank.has_finished or not rank.is_here for rank in self.ranks)
        )
        return KILLED if is_over else RUNNING

    def look(self) -> None:
        """Find further ranks, and read the heads of all files."""
        now_s = time.monotonic()
        if len(self.ranks) < max(1, self.size) and now_s - self._scanned_s >= RESCAN_S:
            self._scanned_s = now_s
            self._scan()
        for rank in self.ranks:
            rank.look()

    def counts(self) -> list[RankCounts]:
        """What each rank that has made a call has done so far."""
        return [counts for rank in self.ranks if (counts := rank.counts()) is not None]

    def _scan(self) -> None:
        with suppress(OSError):
            names = {name for name in os.listdir(self.folder / RANKS) if name.endswith(".json")}
            if names == self._seen:
                return
            files = [process_file(self.folder / RANKS / name) for name in sorted(names)]
            programs = worlds(file for file in files if file is not None)
            rank_by_path = {rank.process.path: rank for rank in self.ranks}
            watched = [
                world for world in programs if any(file.path in rank_by_path for file in world)
            ]
            for world in watched[:1] or programs[-1:]:
                self.ranks = [rank_by_path.get(file.path) or LiveRank(file) for file in world]
            # One that is within MPI_Init has not written who it is.
            self._seen = names if None not in files else set()
