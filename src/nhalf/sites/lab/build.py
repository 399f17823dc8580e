"""Create a lab, step by step; on failure, everything created is removed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.lab import network, places, slurm, state
from nhalf.sites.lab.command import attempt
from nhalf.sites.lab.layout import HEAD, layout
from nhalf.sites.lab.remove import remove, remove_named
from nhalf.sites.lab.state import Lab

Step = tuple[str, Callable[[Lab], None]]

STEPS: tuple[Step, ...] = (
    ("files", places.write_files),
    ("network", network.make),
    ("head", lambda lab: places.start(lab, HEAD)),
    ("nodes", lambda lab: places.start(lab, *lab.layout.nodes)),
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
    """The requested lab; raises InputError for impossible requests."""
    state.folder_of(name)
    if not 1 <= cpus <= 1024:
        raise InputError(f"a node with {cpus} CPUs cannot be made", "choose 1 to 1024")
    shape = layout(topology, nodes)
    for link in slow_Bps or {}:
        shape.link(link)
    return Lab(name, nodes, topology, cpus, rate_Bps, dict(slow_Bps or {}))


def begin(lab: Lab) -> None:
    """Give a lab a folder; raises InputError if the name is taken."""
    if lab.folder.exists():
        raise InputError(
            f"there is a lab called {lab.name} already",
            f"remove it (nhalf lab down --name {lab.name}) or choose another --name",
        )
    lab.folder.mkdir(mode=0o755)
    lab.save()


def build(lab: Lab, say: Callable[[str], None] = lambda _: None) -> Lab:
    """Create a lab and wait until Slurm reports every node idle.

    A lab whose Slurm does not start is kept, so that its logs can be read.
    """
    with state.locked():
        network.note_folder()
        begin(lab)
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
