"""What can be done with a lab: make it, enter it, look at it, break its nodes, and remove it."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.sites.lab import network, places, slurm
from nhalf.sites.lab.layout import HEAD, Lab, folder_of, layout, locked, names, read
from nhalf.sites.lab.network import attempt, must, system_path
from nhalf.sites.lab.places import keeper, running

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
        message = f"this kernel or container has no namespaces for a lab: {outcome.reason}"
        raise MissingError(message, "take a virtual machine, or a container with all capabilities")


def plan(
    name: str,
    nodes: int,
    topology: str = "star",
    cpus: int = 4,
    rate_Bps: float | None = None,
    slow_Bps: Mapping[str, float] | None = None,
) -> Lab:
    """The requested lab; raises InputError for impossible requests."""
    folder_of(name)
    if not 1 <= cpus <= 1024:
        raise InputError(f"a node with {cpus} CPUs cannot be made", "choose 1 to 1024")
    shape = layout(topology, nodes)
    for link in slow_Bps or {}:
        shape.link(link)
    return Lab(name, nodes, topology, cpus, rate_Bps, dict(slow_Bps or {}))


def begin(lab: Lab) -> None:
    """Give a lab a folder; raises InputError if the name is taken."""
    if lab.folder.exists():
        remedy = f"remove it (nhalf lab down --name {lab.name}) or choose another --name"
        raise InputError(f"there is a lab called {lab.name} already", remedy)
    lab.folder.mkdir(mode=0o755)
    lab.save()


def build(lab: Lab, say: Callable[[str], None] = lambda _: None) -> Lab:
    """Create a lab and wait until Slurm reports every node idle.

    A lab whose Slurm does not start is kept, so that its logs can be read.
    """
    with locked():
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


def remove(lab: Lab) -> None:
    """Remove processes first, then networks, then the folder; the caller holds the lock."""
    places.kill(lambda: places.of_lab(lab))
    for place in lab.layout.places:
        if (network.NETNS / lab.namespace(place)).exists():
            must(["ip", "netns", "delete", lab.namespace(place)])
    shutil.rmtree(lab.folder, ignore_errors=True)
    if lab.folder.exists():
        raise FailedError(f"{lab.folder} cannot be removed", "see who uses it, then try again")


def remove_named(name: str) -> bool:
    """Remove the lab of that name, or its remains; returns whether there was anything."""
    folder = folder_of(name)
    with locked():
        lab = read(folder)
        if lab is not None:
            remove(lab)
        existed = lab is not None or folder.exists()
        # A lab that was killed early consists of its folder only.
        shutil.rmtree(folder, ignore_errors=True)
        if not names():
            network.forget_folder()
    return existed


def status(lab: Lab) -> dict[str, Any]:
    """Nodes, links and jobs; the node state 'silent' means that Slurm does not answer."""
    states = slurm.node_states(lab)
    nodes = [
        {
            "node": node,
            "address": lab.address(node),
            "state": states.get(node, "silent"),
            "alive": keeper(lab, node) is not None,
            "slurmd": running(lab, f"slurmd.{node}.pid"),
        }
        for node in lab.layout.nodes
    ]
    return {
        "lab": lab.name,
        "topology": lab.topology,
        "folder": str(lab.folder),
        "slurm_conf": str(lab.slurm_conf),
        "address": lab.address(HEAD),
        "cpus": lab.cpus,
        "rate_Bps": lab.rate_Bps,
        "slurmctld": running(lab, "slurmctld.pid"),
        "nodes": nodes,
        "links": [network.link_state(lab, link) for link in lab.layout.data_links],
        "jobs": slurm.jobs(lab),
    }


IN_CURRENT_FOLDER = 'cd -- "$1" 2>/dev/null || cd /; shift; exec "$@"'


def command_line(lab: Lab, place: str, command: Sequence[str]) -> list[str]:
    """The command to execute: namespaces of a place, current folder, user's command.

    Raises FailedError if the place is dead.
    """
    pid = keeper(lab, place)
    if pid is None:
        remedy = "down, then up again" if place == HEAD else f"restart {place} --name {lab.name}"
        raise FailedError(f"{place} is dead", f"nhalf lab {remedy}")
    spaces = ["--uts", "--mount", "--root", "--net", "--ipc"]
    entered = ["nsenter", "--target", str(pid), *spaces]
    return [*entered, "sh", "-c", IN_CURRENT_FOLDER, "nhalf-lab", os.getcwd(), *command]


def variables(lab: Lab) -> dict[str, str]:
    """The present environment with Slurm's configuration, the lab's name and this nhalf."""
    return {
        **os.environ,
        "SLURM_CONF": str(lab.slurm_conf),
        "NHALF_LAB": lab.name,
        "PATH": f"{lab.folder}/bin:{system_path()}",
        # Everything in a lab is root's.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def execute(lab: Lab, place: str, command: Sequence[str]) -> None:
    """Replace this process by the command, with its own input, output, signals and exit code."""
    line = command_line(lab, place, command)
    # In the lab, `nhalf` is the one that runs.
    text = f'#!/bin/sh\nexec {sys.executable} -P -m nhalf "$@"\n'
    path = lab.folder / "bin" / "nhalf"
    if not path.exists() or path.read_text() != text:
        part = path.with_name(f"nhalf.{os.getpid()}")
        part.write_text(text)
        part.chmod(part.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        part.rename(path)
    sys.stdout.flush()
    os.execvpe(line[0], line, variables(lab))


def change_link(
    lab: Lab, name: str, rate_Bps: float | None = None, up: bool | None = None
) -> dict[str, Any]:
    """Change the rate of a link, pull it (`up` False) or plug it in; returns its new state.

    Raises InputError for a link that is not there, or if nothing is to be changed.
    """
    link = lab.layout.link(name)
    if rate_Bps is None and up is None:
        raise InputError(
            f"nothing is to be changed at {lab.layout.title(link)}", "add --rate, --down or --up"
        )
    if up is not None:
        network.switch_link(lab, link, up)
    if rate_Bps is not None:
        network.shape(lab, {link: rate_Bps})
    return network.link_state(lab, link)


def kill_node(lab: Lab, node: str) -> int:
    """Cut the power of a node: kill its processes without notice; returns their number.

    The link is cut first, so that no peer sees a connection close.
    """
    link = lab.layout.link(lab.layout.node(node))
    network.switch_link(lab, link, up=False)
    died = len(places.of_node(lab, node))
    places.kill(lambda: places.of_node(lab, node))
    for file_name in (f"keeper.{node}", f"slurmd.{node}.pid"):
        (lab.folder / file_name).unlink(missing_ok=True)
    return died


def restart_node(lab: Lab, node: str) -> None:
    """Start a node as after a power cut: whatever ran there is gone, its link is plugged in."""
    kill_node(lab, node)
    network.switch_link(lab, lab.layout.link(node), up=True)
    places.start(lab, node)


PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "munge", "iproute2"),
    # For MPI libraries from wheels: srun --mpi=pmi2, and the fabrics of Intel MPI.
    *("libpmi2-0", "libfabric1"),
)
PROGRAMS = (
    *("slurmctld", "slurmd", "srun", "sinfo", "munged", "ip", "tc"),
    *("unshare", "nsenter", "mount"),
)
INSTALL_TIMEOUT_S = 600.0

WITHOUT_STARTING = """
for starter in /usr/sbin/invoke-rc.d /usr/bin/deb-systemd-invoke; do
  [ ! -e "$starter" ] || mount --bind /bin/true "$starter"
done
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
exec apt-get -qq install -y --no-install-recommends "$@"
"""
"""Packages start their services by these two programs; in this namespace they do nothing.

The namespace vanishes when the command ends, however it ends.
"""


def missing_programs() -> list[str]:
    """The required programs of a lab that are missing."""
    return [name for name in PROGRAMS if shutil.which(name, path=system_path()) is None]


def missing_packages() -> list[str]:
    """Debian packages that are not installed; none if there is no dpkg."""
    if shutil.which("dpkg-query") is None:
        return []
    shown = attempt(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *PACKAGES])
    installed = {line.split()[0] for line in shown.stdout.splitlines() if " installed" in line}
    return [name for name in PACKAGES if name not in installed]


def ensure(may_install: bool, say: Callable[[str], None]) -> None:
    """Make sure that all programs are installed; raises MissingError with the reason otherwise.

    Missing Debian packages are installed if that is allowed, and `say` reports it.
    """
    packages = missing_packages()
    if may_install and packages and shutil.which("apt-get"):
        say(f"installing {' '.join(packages)} (their services are not started)")
        command = ["unshare", "--mount", "sh", "-c", WITHOUT_STARTING, "nhalf-lab", *packages]
        outcome = attempt(command, timeout_s=INSTALL_TIMEOUT_S)
        if not outcome.succeeded:
            say(f"apt-get did not succeed: {outcome.reason}")
    programs = missing_programs()
    if programs:
        remedy = f"install Slurm, munge and iproute2 (Debian: apt-get install {' '.join(PACKAGES)})"
        raise MissingError(f"a lab needs programs that are not here: {', '.join(programs)}", remedy)
