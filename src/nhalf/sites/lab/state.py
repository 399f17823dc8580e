# SPDX-License-Identifier: Apache-2.0
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
from nhalf.sites.lab import addresses
from nhalf.sites.lab.layout import HEAD, Layout, layout

ROOT = Path("/run/nhalf-lab")
LOCK_TIMEOUT_S = 60.0
_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")


class Lab(msgspec.Struct, frozen=True, dict=True):
    """The request, and the number from which its addresses and names are derived."""

    name: str
    number: int
    nodes: int
    topology: str = "star"
    cpus: int = 4
    rate_Bps: float | None = None
    slow_Bps: dict[str, float] = {}

    @property
    def folder(self) -> Path:
        """The folder of all its files."""
        return ROOT / self.name

    @cached_property
    def layout(self) -> Layout:
        """Its places and links."""
        return layout(self.topology, self.nodes)

    @property
    def net(self) -> str:
        """The first three numbers of its addresses."""
        return addresses.prefix(self.number)

    @property
    def head_port(self) -> str:
        """The one interface that it has in this machine's own network."""
        return f"nhalf{self.number}"

    def namespace(self, place: str) -> str:
        """The name of a place's network namespace, as `ip netns` lists it."""
        return f"nhalf{self.number}{place}"

    def address(self, place: str) -> str:
        """Of a node, a router or the head."""
        if place == HEAD:
            return f"{self.net}.254"
        number = int(place[1:])
        return f"{self.net}.{number + (128 if place.startswith('r') else 0)}"

    @property
    def slurm_conf(self) -> Path:
        """What SLURM_CONF is set to."""
        return self.folder / "slurm.conf"

    @property
    def hosts_file(self) -> Path:
        """Lies over /etc/hosts in every place; by it processes of the lab are known."""
        return self.folder / "hosts"

    def save(self) -> None:
        """Write it atomically."""
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
    """The labs that are up, and what is left of others."""
    if not ROOT.is_dir():
        return []
    return sorted(path.name for path in ROOT.iterdir() if path.is_dir())


def load(name: str) -> Lab:
    """The lab of that name; raises InputError if there is none."""
    found = read(folder_of(name))
    if found is None:
        if folder_of(name).exists():
            raise InputError(f"the lab {name} was not finished", f"nhalf lab down --name {name}")
        if names():
            raise unknown("lab", name, names())
        raise InputError("there is no lab on this machine", "start one: nhalf lab up")
    return found


def read(folder: Path) -> Lab | None:
    """The lab described in a folder; None if there is none."""
    try:
        return msgspec.json.decode((folder / "lab.json").read_bytes(), type=Lab)
    except (OSError, msgspec.DecodeError):
        return None


def all_labs() -> list[Lab]:
    """Every lab that is known."""
    found = (read(ROOT / name) for name in names())
    return [lab for lab in found if lab is not None]


@contextmanager
def locked() -> Iterator[None]:
    """Only one process makes or removes labs at a time; the folder of all labs exists meanwhile."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    descriptor = _lock(deadline)
    try:
        yield
    finally:
        if not any(ROOT.iterdir()):
            ROOT.rmdir()
        os.close(descriptor)


def _lock(deadline: float) -> int:
    """An exclusive lock on the folder that is there, not on one that was just removed."""
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
