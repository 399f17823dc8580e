# SPDX-License-Identifier: Apache-2.0
"""Create a lab, step by step; on failure, everything created is removed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import msgspec

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.lab import addresses, network, places, slurm, state
from nhalf.sites.lab.command import attempt
from nhalf.sites.lab.layout import layout
from nhalf.sites.lab.remove import remove, remove_named
from nhalf.sites.lab.state import Lab

Step = tuple[str, Callable[[Lab], None]]

STEPS: tuple[Step, ...] = (
    ("files", places.write_files),
    ("network", network.make),
    ("head", places.start_head),
    ("nodes", lambda lab: places.start_nodes(lab, list(lab.layout.nodes))),
)


def require_root() -> None:
    """Raises MissingError if this user, kernel or container cannot have a lab."""
    if os.geteuid() != 0:
        raise MissingError(
            "a lab is made of network namespaces, which only root may make", "call it with sudo"
        )
    outcome = attempt(["unshare", "--net", "--mount", "--uts", "--ipc", "true"])
    if not outcome.succeeded:
        raise MissingError(
            f"this kernel or container has no namespaces for a lab: {outcome.reason}",
            "take a virtual machine, or a container with all capabilities",
        )


def plan(
    name: str,
    nodes: int,
    topology: str = "star",
    cpus: int = 4,
    rate_Bps: float | None = None,
    slow_Bps: Mapping[str, float] | None = None,
) -> Lab:
    """The requested lab, still without a number; raises InputError for impossible requests."""
    state.folder_of(name)
    if not 1 <= cpus <= 1024:
        raise InputError(f"a node with {cpus} CPUs cannot be made", "choose 1 to 1024")
    shape = layout(topology, nodes)
    for link in slow_Bps or {}:
        shape.link(link)
    return Lab(name, -1, nodes, topology, cpus, rate_Bps, dict(slow_Bps or {}))


def begin(planned: Lab) -> Lab:
    """Give a lab a free number and a folder; raises InputError if the name is taken."""
    if state.folder_of(planned.name).exists():
        raise InputError(
            f"there is a lab called {planned.name} already",
            f"remove it (nhalf lab down --name {planned.name}) or choose another --name",
        )
    taken_numbers = [lab.number for lab in state.all_labs()]
    number = addresses.free_number(network.routes_here(), taken_numbers)
    lab = msgspec.structs.replace(planned, number=number)
    lab.folder.mkdir(mode=0o755)
    lab.save()
    return lab


def build(planned: Lab, say: Callable[[str], None] = lambda _: None) -> Lab:
    """Create a lab and wait until Slurm reports every node idle.

    A lab whose Slurm does not start is kept, so that its logs can be read.
    """
    with state.locked():
        network.note_folder()
        lab = begin(planned)
        try:
            for title, step in STEPS:
                say(title)
                step(lab)
        except BaseException:
            remove(lab)
            raise
    say("Slurm")
    try:
        slurm.wait_until_idle(lab)
    except KeyboardInterrupt:
        remove_named(lab.name)
        raise
    return lab
