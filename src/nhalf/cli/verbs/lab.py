"""Create a virtual Slurm cluster on this machine.

nhalf lab up --nodes 4 --rate 1gbit
nhalf lab exec -- nhalf run pair-map --budget 60s
nhalf lab down
"""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.request import REQUIRED, Request, option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import TableOptions
from nhalf.present.terminal.output import console, emit_json, print_lines, stdout_console
from nhalf.sites.lab.layout import HEAD
from nhalf.sites.lab.network import parse_link_rate, rate_text

with lazily(globals()):
    from rich.markup import escape

    from nhalf.present.terminal.lab import show_status
    from nhalf.sites.lab import build, layout, slurm
    from nhalf.sites.lab.build import remove_named, status

GROUP = "setup"
DEFAULT = "lab"


@dataclass(frozen=True, kw_only=True)
class LabRequest(Request, heading="Which lab"):
    """A request about one of the labs that are up."""

    name: str = option(DEFAULT, "Name of the lab.", variable="NHALF_LAB")


@dataclass(frozen=True, kw_only=True)
class NodeRequest(LabRequest, TableOptions):
    """A request about a node of a lab."""

    node: str = word(REQUIRED, "Name of the node.")


@dataclass(frozen=True, kw_only=True)
class Up(TableOptions, heading="What to build"):
    """The cluster to build."""

    nodes: int = option(4, "Number of nodes, named n1, n2, …")
    rate: str | None = option(None, "Rate of every link, e.g. 500mbit or 1gbit.")
    topology: str = option("star", "Network topology: star, ring or tree.")
    cores: int = option(4, "Cores per node, as configured in Slurm.", former=("--cpus",))
    slow: tuple[str, ...] = option(
        (), "Link with a different rate: NODE=RATE or A-B=RATE; repeatable."
    )
    name: str = option(DEFAULT, "Name of the lab; several can run at once.")
    install: bool = option(True, "Install missing packages with apt-get on Debian.")


def up(request: Up) -> None:
    """Start a cluster: one network namespace per node, links of the given rate, Slurm.

    nhalf lab up --nodes 4 --rate 1gbit
    """
    _outside()
    rate_Bps = None if request.rate is None else parse_link_rate(request.rate)
    planned = build.plan(
        request.name, request.nodes, request.topology, request.cores, rate_Bps, _slow(request.slow)
    )
    build.require_root()
    build.ensure(request.install, lambda text: print_lines(console(), text))
    with console().status("starting …") as shown:
        lab = build.build(planned, lambda step: shown.update(f"starting: {escape(step)} …"))
    if request.json:
        emit_json(status(lab))
    else:
        show_status(stdout_console(), status(lab), fresh=True)


@dataclass(frozen=True, kw_only=True)
class Execute(LabRequest):
    """The command to run, and the node."""

    command: tuple[str, ...] = word(REQUIRED, "Command to run.", "COMMAND…", takes_remaining=True)
    node: str | None = option(None, "Run on this node instead of the head.")


def execute(request: Execute) -> None:
    """Run a command on the head node, where srun, salloc and sbatch work, or on a node.

    nhalf lab exec -- nhalf run pair-map --budget 60s
    """
    build.require_root()
    lab = layout.load(request.name)
    node = request.node or HEAD
    place = HEAD if node == HEAD else lab.layout.node(node)
    build.execute(lab, place, list(request.command))


@dataclass(frozen=True, kw_only=True)
class Status(LabRequest, TableOptions):
    """The lab whose status is shown."""


def show(request: Status) -> None:
    """Show nodes, links and jobs.

    nhalf lab status
    """
    build.require_root()
    current = status(layout.load(request.name))
    if request.json:
        emit_json(current)
    else:
        show_status(stdout_console(), current)


@dataclass(frozen=True, kw_only=True)
class Link(LabRequest, TableOptions, heading="How it is changed"):
    """The link to change, and its new state."""

    link: str = word(REQUIRED, "Link: NODE, or A-B.", "LINK")
    rate: str | None = option(None, "New rate, e.g. 100mbit.")
    unplug: bool = option(False, "Unplug the cable.", "--down")
    plug: bool = option(False, "Plug the cable in again.", "--up")


def link(request: Link) -> None:
    """Change a link at run time: its rate, or unplug it.

    nhalf lab link n3 --rate 100mbit
    """
    if request.plug and request.unplug:
        raise InputError("a link cannot be up and down", "take one of --up and --down")
    rate_Bps = None if request.rate is None else parse_link_rate(request.rate)
    build.require_root()
    up = request.plug if request.plug or request.unplug else None
    changed = build.change_link(layout.load(request.name), request.link, rate_Bps, up)
    if request.json:
        emit_json(changed)
    else:
        words = "up" if changed["up"] else "down"
        text = f"{changed['link']} {words}, {rate_text(changed['rate_Bps'])}"
        stdout_console().print(text, markup=False)


def kill(request: NodeRequest) -> None:
    """Cut a node's power: its processes and its link die at once.

    nhalf lab kill n2
    """
    build.require_root()
    node = request.node
    died = build.kill_node(layout.load(request.name), node)
    if request.json:
        emit_json({"node": node, "processes": died})
    else:
        stdout_console().print(f"{node} is dead: {died} processes ended with it", markup=False)


def restart(request: NodeRequest) -> None:
    """Restart a node, as after a power cut.

    nhalf lab restart n2
    """
    build.require_root()
    node = request.node
    lab = layout.load(request.name)
    since_s = time.time()
    build.restart_node(lab, lab.layout.node(node))
    node_state = slurm.wait_until_back(lab, node, since_s)
    if request.json:
        emit_json({"node": node, "state": node_state})
    else:
        stdout_console().print(f"{node} is back: {node_state}", markup=False)


@dataclass(frozen=True, kw_only=True)
class Down(TableOptions, heading="Which lab"):
    """The lab to remove."""

    name: str = option(DEFAULT, "Name of the lab.")


def down(request: Down) -> None:
    """Remove the cluster, including the remains of a crash.

    nhalf lab down
    """
    _outside()
    name = request.name
    build.require_root()
    existed = remove_named(name)
    if request.json:
        emit_json({"lab": name, "removed": existed})
    else:
        words = f"{name} is removed" if existed else f"there was no lab {name}"
        stdout_console().print(words, markup=False)


COMMANDS = {
    "up": up,
    "exec": execute,
    "status": show,
    "link": link,
    "kill": kill,
    "restart": restart,
    "down": down,
}


def _slow(texts: Iterable[str]) -> dict[str, float]:
    rates_Bps = {}
    for text in texts:
        link, equals, rate = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} names no rate", "write --slow n2=100mbit")
        rates_Bps[link] = parse_link_rate(rate)
    return rates_Bps


def _outside() -> None:
    """Raises InputError inside a lab, which must not create or remove labs."""
    if "NHALF_LAB" in os.environ:
        raise InputError(
            f"this shell runs inside the lab {os.environ['NHALF_LAB']}", "leave it first"
        )
