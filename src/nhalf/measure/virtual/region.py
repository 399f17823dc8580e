"""The memory that the ranks of a virtual machine share (native/fabric/region.hpp).

It has no name: ranks open it as a file of this process, and it is gone with the last process that
uses it, however that one ends.
"""

import enum
import os
import re
import resource
import signal
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nhalf.base.errors import MissingError
from nhalf.base.numbers import whole
from nhalf.base.units import format_size, format_time

REGION_BYTES = 1 << 36
"""Most of it is never touched and takes no memory: ranks keep to half of what the host or their
control group has (native/fabric/rank.hpp)."""
LEAST_BYTES = 1 << 26
"""What messages on their way need at least."""
ADDRESSES_SHARE = 4
"""The region takes a fourth at most of the addresses that a limit leaves to a process."""
OUTCOME_AT, MEMBERS_AT = 65536, 69632
_MEMBER = struct.Struct("=IIQQQQ")
RANKS_MAX = 1024
_OWNER_AT = MEMBERS_AT + RANKS_MAX * _MEMBER.size + 4
_WRITTEN = 2
_TEXT_BYTES = 4092


class Presence(enum.IntEnum):
    """How far a rank has come."""

    ABSENT = 0
    ACTIVE = 1
    FINISHED = 2
    LEFT = 3
    GONE = 4
    """Its process ended without MPI_Finalize."""


@dataclass(frozen=True)
class RankRecord:
    """What a rank did: its virtual time, and the messages and bytes that it sent to others.

    `is_exiting` once its process has called exit, or its main function has returned, with
    `exit_code`.
    """

    process: int
    presence: Presence
    now_ps: int
    messages: int
    bytes: int
    is_exiting: bool = False
    exit_code: int = 0


@dataclass(frozen=True)
class Stopped:
    """Why the ranks could not go on: a word for the kind of reason, and a sentence."""

    kind: str
    reason: str

    @property
    def exit_code(self) -> int:
        """That of a program that has called MPI_Abort, as its launcher would pass it on."""
        code = re.search(r"MPI_Abort with code (-?\d+)$", self.reason)
        return int(code[1]) & 0xFF if code else 1


def _size_bytes() -> int:
    """The size of a region: what this process's limits of memory and of files leave to it."""
    limits = {
        "-v": resource.getrlimit(resource.RLIMIT_AS)[0] // ADDRESSES_SHARE,
        "-f": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    }
    allowed = {option: size for option, size in limits.items() if 0 <= size < REGION_BYTES}
    for option, size in allowed.items():
        if size < LEAST_BYTES:
            raise MissingError(
                f"a limit of this process leaves {format_size(size)} to the virtual network",
                f"raise it: ulimit {option} unlimited",
            )
    return min([REGION_BYTES, *allowed.values()])


class Region:
    """The memory of one launch."""

    def __init__(self, description: str) -> None:
        """Create it with the description of the machine.

        Raises MissingError if limits of this process leave it too little room.
        """
        size_bytes = _size_bytes()
        self._file = os.memfd_create("nhalf-fabric", os.MFD_CLOEXEC)
        os.ftruncate(self._file, size_bytes)
        os.pwrite(self._file, description.encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back once no rank uses it; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    @property
    def path(self) -> Path:
        """The file by which other processes open it."""
        return Path(f"/proc/{os.getpid()}/fd/{self._file}")

    @property
    def stopped(self) -> Stopped | None:
        """Why the ranks stopped; None while they can go on."""
        (state,) = struct.unpack("=I", os.pread(self._file, 4, OUTCOME_AT))
        if state != _WRITTEN:
            return None
        text = os.pread(self._file, _TEXT_BYTES, OUTCOME_AT + 4).partition(b"\0")[0]
        kind, _, reason = text.decode(errors="replace").partition(":")
        return Stopped(kind, reason)

    @property
    def owner(self) -> int:
        """The rank whose turn it is."""
        (rank,) = struct.unpack("=I", os.pread(self._file, 4, _OWNER_AT))
        return int(rank)

    def members(self, ranks: int) -> list[RankRecord]:
        """The ranks in their order."""
        content = os.pread(self._file, ranks * _MEMBER.size, MEMBERS_AT)
        return [
            RankRecord(
                process, Presence(presence), now_ps, sent, size_bytes, bool(ended), ended >> 8
            )
            for process, presence, now_ps, sent, size_bytes, ended in _MEMBER.iter_unpack(content)
        ]

    def kill_ranks(self, ranks: int) -> None:
        """End every rank that takes part; nothing where the memory was given back."""
        members = self.members(ranks) if self._file >= 0 else []
        for member in members:
            if member.presence in (Presence.ACTIVE, Presence.FINISHED):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(member.process, signal.SIGKILL)


INTERVAL_S, LOG_INTERVAL_S = 5.0, 60.0
"""How often a line says it: on a terminal, and in a file that somebody reads later."""


class VirtualProgress:
    """Says every few seconds of real time how far the ranks are."""

    def __init__(
        self,
        say: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """Begin to count real time; `say` takes a line."""
        self._interval_s = interval_s
        self._say = say
        self._now = now
        self._began_s = self._said_s = now()

    def look(self, members: Sequence[RankRecord]) -> None:
        """Say it if it is time."""
        now_s = self._now()
        if now_s - self._said_s >= self._interval_s:
            self._said_s = now_s
            self._say(in_words(members, now_s - self._began_s))


def in_words(members: Sequence[RankRecord], real_s: float) -> str:
    """Virtual and real time, and messages so far."""
    virtual_s = max((member.now_ps for member in members), default=0) / 1e12
    messages = sum(member.messages for member in members)
    return (
        f"{format_time(virtual_s)} virtual, {format_time(real_s)} real, {whole(messages)} messages"
    )
