"""A traced program while it runs: the counters of its ranks, read from the files that they map.

Nothing here disturbs the ranks: files are opened for reading, and no signal or message is sent. On
this host the kernel shows each store at once; what ranks of other hosts wrote comes when the shared
file system shows it.
"""

from __future__ import annotations

import math
import os
import socket
import struct
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.base.launch.process_table import BEGAN, STATE, status
from nhalf.measure.traced.layout import (
    HEAD,
    HEAD_BYTES,
    MAGIC,
    ProcessFile,
    Records,
    ThreadFile,
    ThreadHead,
    process_file,
)
from nhalf.measure.traced.reading import TICK_S, VIRTUAL, clock_of
from nhalf.measure.traced.start import RANKS
from nhalf.measure.traced.tables import DESCRIPTION, KINDS
from nhalf.measure.traced.worlds import worlds

CHECK_S = 2.0
"""How often further ranks are looked for, and whether those that are known run."""
RUNNING, FINISHED, KILLED = "running", "finished", "killed"
SUMS = ("calls", "bytes", "time_s", "waiting_s")
"""What is counted of each kind of call."""
OPEN_MAX = 512
"""Files stay open up to this descriptor; those of further ranks are opened for each look."""
_FINISHED, _PUBLISHED = struct.Struct("<I"), struct.Struct("<QQ")
_FIELDS: Mapping[str, Any] = HEAD.fields or {}
_FINISHED_AT, _PUBLISHED_AT = (_FIELDS[name][1] for name in ("finished", "collectives"))


@dataclass(frozen=True)
class RankCounts:
    """What a rank has done so far, (SUMS, KINDS), and its time outside MPI.

    Of routed collectives, `sums_per_way` has the SUMS by 'operation way', and `saved_s` is the time
    that other ways than the library's own have saved.
    """

    rank: int
    host: str
    sums_per_kind: Floats
    computing_s: float
    is_up: bool
    sums_per_way: Mapping[str, Floats] = field(default_factory=dict)
    saved_s: float = 0.0


@dataclass
class LiveRank:
    """A rank's files, and whether it still runs."""

    process: ProcessFile
    content: bytes = b""
    """The head of its first thread's file, as it was read last; empty before the first."""
    began: str = ""
    """When its process started, which no other one of its number shares."""
    is_gone: bool = False
    tick_s: float = TICK_S
    """Length of a tick of its clock, as far as it is known yet."""
    _counts: RankCounts | None = field(default=None, repr=False)
    _descriptor: int | None = None
    _checks: int = 0

    def __post_init__(self) -> None:
        self.is_here = self.process.host == socket.gethostname()
        """Whether its process can be seen from here."""

    @property
    def host(self) -> str:
        """Where it runs: on a node of a simulated machine, if on one."""
        file = self.process
        return file.host if file.virtual is None else file.virtual.host(file.rank)

    @property
    def has_finished(self) -> bool:
        """Whether it came to the end of MPI_Finalize."""
        return bool(self.content and _FINISHED.unpack_from(self.content, _FINISHED_AT)[0])

    @property
    def collectives(self) -> int:
        """How many collective calls of its first thread have ended; 0 before format 5."""
        return self._published[0]

    @property
    def computed_s(self) -> float:
        """The time outside MPI before the last of them."""
        return self._published[1] * self.tick_s

    @property
    def _published(self) -> tuple[int, int]:
        return _PUBLISHED.unpack_from(self.content, _PUBLISHED_AT) if self.content else (0, 0)

    def look(self) -> None:
        """Read the head of its first thread; one that is not there yet stays as it was."""
        with suppress(OSError):
            if self._descriptor is None:
                self._open()
                return
            content = os.pread(self._descriptor, HEAD.itemsize, 0)
            if len(content) == HEAD.itemsize and content.startswith(MAGIC):
                self.content = content

    def _open(self) -> None:
        """Read the head, and keep the file open: one of another host is seen anew when opened."""
        descriptor = os.open(self._path(0), os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.pread(descriptor, HEAD_BYTES, 0)
            with suppress(InputError):
                ThreadHead(self._path(0), content=content)
                self.content = content
                if self.is_here and descriptor < OPEN_MAX:
                    self._descriptor = descriptor
                    weakref.finalize(self, os.close, descriptor)
        finally:
            if self._descriptor is None:
                os.close(descriptor)

    def check(self) -> None:
        """Find whether its process runs, and how long a tick is, which is known the better the
        longer it runs.
        """
        if not self.is_gone and self.is_here:
            self.is_gone = not self._is_running()
        self._checks += 1
        if self._checks.bit_count() > 1:
            return
        with suppress(InputError):
            if self.process.virtual is not None:
                self.tick_s = VIRTUAL.tick_s
            elif self.content:
                head = ThreadHead(self._path(0), content=self.content.ljust(HEAD_BYTES, b"\0"))
                self.tick_s = clock_of([head], 0).tick_s

    def counts(self) -> RankCounts | None:
        """Add up what all its threads have counted; None before its first call."""
        with suppress(InputError):
            # Threads have numbers from 0 on, and a folder of many ranks is long to search.
            paths = takewhile(Path.exists, map(self._path, count()))
            threads = [ThreadFile(path) for path in paths]
            if threads:
                self._counts = self._added_up(np.concatenate([file.cells for file in threads]))
        return self._counts

    def _added_up(self, cells: Records) -> RankCounts:
        sums = self._summed(cells, cells["call_and_kind"] & 15, len(KINDS))
        computing_s = self.computed_s
        # The longer it runs, the better its clock is known; but counters must not go back.
        if self._counts is not None:
            sums = np.maximum(sums, self._counts.sums_per_kind)
            computing_s = max(computing_s, self._counts.computing_s)
        is_up = not (self.is_gone or self.has_finished)
        counts = RankCounts(self.process.rank, self.host, sums, computing_s, is_up)
        return replace(counts, **self._by_way(cells)) if self.is_routed else counts

    def _summed(self, cells: Records, numbers: NDArray[Any], count: int) -> Floats:
        """The sums over the cells of each number, (SUMS, count), without those beyond."""
        numbers = np.minimum(numbers, count)
        sums: Floats = np.array(
            [
                np.bincount(numbers, cells[name].astype(float), count + 1)[:count]
                for name in ("count", "bytes", "time", "waiting")
            ],
            float,
        )
        sums[2:] *= self.tick_s
        return sums

    @property
    def is_routed(self) -> bool:
        """Whether it counts the ways of routed collectives, and is not traced."""
        return any(" " in name for name in self.process.calls)

    def _by_way(self, cells: Records) -> dict[str, Any]:
        """The sums of each operation and way, and the time that was saved."""
        names = self.process.calls
        sums = self._summed(cells, cells["call_and_kind"] >> 4, len(names))
        by_way = {name: sums[:, at] for at, name in enumerate(names) if sums[0, at] > 0}
        saved_ns = int(np.frombuffer(self.content, HEAD, 1)["saved_ns"][0]) if self.content else 0
        return {"sums_per_way": by_way, "saved_s": saved_ns * 1e-9}

    def _path(self, thread: int) -> Path:
        return Path(f"{self.process.path.removesuffix('.json')}-{thread}.counts")

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
        self._checked_s = -math.inf
        self._written: list[bytes] = []
        self._written_s = time.monotonic()
        self._seen: set[str] = set()
        self.state = RUNNING
        """RUNNING, FINISHED, or KILLED where ranks have ended without MPI_Finalize."""
        self._one_runs_here = False

    @property
    def size(self) -> int:
        """How many ranks the program has; 0 before any is known."""
        return self.ranks[0].process.size if self.ranks else 0

    def _state(self) -> str:
        if self.ranks and all(rank.has_finished for rank in self.ranks):
            return FINISHED
        is_over = (self.folder / DESCRIPTION).is_file() or (
            any(rank.is_gone for rank in self.ranks)
            and all(rank.is_gone or rank.has_finished or not rank.is_here for rank in self.ranks)
        )
        return KILLED if is_over else RUNNING

    @property
    def silent_s(self) -> float:
        """For how long no rank has written anything; 0 while one runs whose process is seen."""
        return 0.0 if self._one_runs_here else time.monotonic() - self._written_s

    def look(self) -> None:
        """Read the heads of all files; now and then find further ranks, and who has ended."""
        is_due = time.monotonic() - self._checked_s >= CHECK_S
        if is_due and len(self.ranks) < max(1, self.size):
            self._scan()
        for rank in self.ranks:
            rank.look()
        if is_due:
            self._checked_s = time.monotonic()
            for rank in self.ranks:
                rank.check()
            self._one_runs_here = any(rank.is_here and not rank.is_gone for rank in self.ranks)
            written = [rank.content for rank in self.ranks]
            if written != self._written:
                self._written, self._written_s = written, self._checked_s
        if is_due or (self.ranks and self.ranks[0].has_finished):
            self.state = self._state()

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
                world for world in programs if rank_by_path.keys() & {file.path for file in world}
            ]
            for world in watched[:1] or programs[-1:]:
                self.ranks = [rank_by_path.get(file.path) or LiveRank(file) for file in world]
            # One that is within MPI_Init has not written who it is.
            self._seen = names if None not in files else set()
