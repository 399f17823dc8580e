"""A lab's folder with its state: one folder below /run, owned by root."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import msgspec

from nhalf.base.errors import FailedError, InputError, unknown
from nhalf.base.files import write_bytes
from nhalf.base.unreadable import UNREADABLE
from nhalf.sites.lab.layout import HEAD, LabLayout, layout

ROOT = Path("/run/nhalf-lab")
NET = "198.18.0"
"""The first three numbers of all addresses in a lab, of the range for benchmarks (RFC 2544).

Nothing outside a lab sees them, so that all labs have the same.
"""
LOCK_TIMEOUT_S = 60.0
_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")


class Lab(msgspec.Struct, frozen=True, dict=True):
    """The request: all that the lab is made from."""

    name: str
    nodes: int
    topology: str = "star"
    cpus: int = 4
    rate_Bps: float | None = None
    slow_Bps: dict[str, float] = {}
    number: int | None = None
    """Names the namespaces of a lab that nhalf 1.0 made, and is None for others."""

    @property
    def folder(self) -> Path:
        """The folder of the lab's files."""
        return ROOT / self.name

    @cached_property
    def layout(self) -> LabLayout:
        """The lab's places and links."""
        return layout(self.topology, self.nodes)

    def namespace(self, place: str) -> str:
        """The name of a place's network namespace, as `ip netns` lists it."""
        return f"nhalf-{self.name}-{place}" if self.number is None else f"nhalf{self.number}{place}"

    def address(self, place: str) -> str:
        """The address of a node, a router or the head."""
        if place == HEAD:
            return f"{NET}.254"
        number = int(place[1:])
        return f"{NET}.{number + (128 if place.startswith('r') else 0)}"

    @property
    def slurm_conf(self) -> Path:
        """The value of SLURM_CONF."""
        return self.folder / "slurm.conf"

    @property
    def hosts_file(self) -> Path:
        """The file mounted over /etc/hosts in every place, which identifies the lab's processes."""
        return self.folder / "hosts"

    def save(self) -> None:
        """Write the description of the lab atomically."""
        write_bytes(self.folder / "lab.json", msgspec.json.encode(self))


def folder_of(name: str) -> Path:
    """The folder of a lab of that name; raises InputError if no lab can be called so."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"a lab cannot be called {name!r}",
            "take up to 20 small letters, digits and dashes, a letter first",
        )
    return ROOT / name


def names() -> list[str]:
    """The names of the labs that are up, and of remains of others."""
    if not ROOT.is_dir():
        return []
    return sorted(path.name for path in ROOT.iterdir() if path.is_dir())


def load(name: str) -> Lab:
    """The lab of that name; raises InputError if there is none."""
    lab = read(folder_of(name))
    if lab is None:
        if folder_of(name).exists():
            raise InputError(f"the lab {name} was not finished", f"nhalf lab down --name {name}")
        if names():
            raise unknown("lab", name, names())
        raise InputError("there is no lab on this machine", "start one: nhalf lab up")
    return lab


def read(folder: Path) -> Lab | None:
    """The lab described in a folder; None if there is none."""
    try:
        return msgspec.json.decode((folder / "lab.json").read_bytes(), type=Lab)
    except (OSError, *UNREADABLE):
        return None


@contextmanager
def locked() -> Iterator[None]:
    """Hold the lock for creating and removing labs; the folder of all labs exists meanwhile."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    descriptor = _lock(deadline)
    try:
        yield
    finally:
        if not any(ROOT.iterdir()):
            ROOT.rmdir()
        os.close(descriptor)


def _lock(deadline: float) -> int:
    """Take an exclusive lock on the present folder, not on one that was just removed."""
    while time.monotonic() < deadline:
        ROOT.mkdir(mode=0o755, exist_ok=True)
        descriptor = os.open(ROOT, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if ROOT.exists() and os.fstat(descriptor).st_ino == ROOT.stat().st_ino:
                return descriptor
        except BlockingIOError:
            time.sleep(0.05)
        os.close(descriptor)
    raise FailedError(
        f"another nhalf lab holds {ROOT} for longer than {LOCK_TIMEOUT_S:g} s", "wait or end it"
    )
