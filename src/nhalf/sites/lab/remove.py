# SPDX-License-Identifier: Apache-2.0
"""Remove a lab in any state: nothing here relies on earlier steps."""

from __future__ import annotations

import shutil
import time

from nhalf.base.errors import FailedError
from nhalf.sites.lab import network, processes, state
from nhalf.sites.lab.command import attempt, must
from nhalf.sites.lab.state import Lab

STARTING_S = 1.0
"""Time that a starting MPI program may take from listing this machine's ports to opening them.

UCX lists those that are up, and MPI_Init fails if one of them is gone when it is opened.
"""


def remove(lab: Lab) -> None:
    """Remove processes first, then networks, then the folder; the caller holds the lock.

    The head's port is down for a while before its removal: other programs may be about to open it.
    """
    unplugged = attempt(["ip", "link", "set", lab.head_port, "down"]).succeeded
    processes.kill(lambda: processes.of_lab(lab))
    if unplugged:
        time.sleep(STARTING_S)
    for place in lab.layout.places:
        if (network.NETNS / lab.namespace(place)).exists():
            must(["ip", "netns", "delete", lab.namespace(place)])
    if attempt(["ip", "link", "show", lab.head_port]).succeeded:
        attempt(["ip", "link", "delete", lab.head_port])
    shutil.rmtree(lab.folder, ignore_errors=True)
    if lab.folder.exists():
        raise FailedError(f"{lab.folder} cannot be removed", "see who uses it, then try again")


def remove_named(name: str) -> bool:
    """Remove the lab of that name, or its remains; returns whether there was anything."""
    folder = state.folder_of(name)
    with state.locked():
        lab = state.read(folder)
        if lab is not None:
            remove(lab)
        existed = lab is not None or folder.exists()
        # A lab that was killed early consists of its folder only.
        shutil.rmtree(folder, ignore_errors=True)
        if not state.names():
            network.forget_folder()
    return existed
