"""Remove a lab in any state: nothing here relies on earlier steps."""

from __future__ import annotations

import shutil

from nhalf.base.errors import FailedError
from nhalf.sites.lab import network, processes, state
from nhalf.sites.lab.command import must
from nhalf.sites.lab.state import Lab


def remove(lab: Lab) -> None:
    """Remove processes first, then networks, then the folder; the caller holds the lock."""
    processes.kill(lambda: processes.of_lab(lab))
    for place in lab.layout.places:
        if (network.NETNS / lab.namespace(place)).exists():
            must(["ip", "netns", "delete", lab.namespace(place)])
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
