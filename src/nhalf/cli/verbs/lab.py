# SPDX-License-Identifier: Apache-2.0
"""Make a cluster with Slurm on this machine, for those who have none."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from nhalf.base.errors import InputError
from nhalf.base.request import Option, Request, Word
from nhalf.cli.options import Tables

DEFAULT = "lab"


@dataclass(frozen=True, kw_only=True)
class Which(Request, heading="Which lab"):
    """One of the labs that are up."""

    name: Annotated[str, Option("Which lab.", variable="NHALF_LAB")] = DEFAULT


@dataclass(frozen=True, kw_only=True)
class WhichNode(Which, Tables):
    """One of its nodes."""

    node: Annotated[str, Word("Which one.")]


@dataclass(frozen=True, kw_only=True)
class Up(Tables, heading="What to build"):
    """The cluster that is wanted."""

    nodes: Annotated[int, Option("How many nodes: n1, n2, …")] = 4
    rate: Annotated[str | None, Option("Of every link: 500mbit, 1gbit.")] = None
    topology: Annotated[str, Option("star, ring or tree.")] = "star"
    cpus: Annotated[int, Option("What Slurm is told of a node.")] = 4
    slow: Annotated[
        tuple[str, ...],
        Option("NODE=RATE or A-B=RATE: a link with another rate; may be repeated."),
    ] = ()
    name: Annotated[str, Option("What to call it; several may be up.")] = DEFAULT
    install: Annotated[bool, Option("Let apt-get install what is missing, on Debian.")] = True


def up(request: Up) -> None:
    """Start a cluster: a network namespace per node, links of that rate, Slurm.

    nhalf lab up --nodes 4 --rate 1gbit
    """
    from nhalf.present.terminal.lab import show_status
    from nhalf.present.terminal.output import console, emit_json, stdout_console
    from nhalf.sites.lab import build, packages
    from nhalf.sites.lab.shaping import parse_link_rate
    from nhalf.sites.lab.status import status

    _outside()
    rate_Bps = None if request.rate is None else parse_link_rate(request.rate)
    planned = build.plan(
        request.name,
        request.nodes,
        request.topology,
        request.cpus,
        rate_Bps,
        _slow(request.slow),
    )
    build.require_root()
    packages.ensure(
        request.install, lambda text: console().print(text, markup=False, soft_wrap=True)
    )
    with console().status("starting …") as shown:
        lab = build.build(planned, lambda what: shown.update(f"starting: {what} …"))
    if request.json:
        emit_json(status(lab))
    else:
        show_status(stdout_console(), status(lab), fresh=True)


@dataclass(frozen=True, kw_only=True)
class Execute(Which):
    """What is run where."""

    command: Annotated[tuple[str, ...], Word("What to run.", "COMMAND…", rest=True)]
    node: Annotated[str | None, Option("Run it there, not on the head.")] = None


def execute(request: Execute) -> None:
    """Run a command in the cluster: on its head, where srun, salloc and sbatch are at home.

    nhalf lab exec -- nhalf run pair-map --budget 60s
    """
    from nhalf.sites.lab import build, environment, state
    from nhalf.sites.lab.layout import HEAD

    build.require_root()
    lab = state.load(request.name)
    node = request.node or HEAD
    place = HEAD if node == HEAD else lab.layout.node(node)
    environment.execute(lab, place, list(request.command))


@dataclass(frozen=True, kw_only=True)
class Status(Which, Tables):
    """Whose status is shown."""


def show(request: Status) -> None:
    """Show nodes, links and jobs, as Slurm and the links say.

    nhalf lab status
    """
    from nhalf.present.terminal.lab import show_status
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, state
    from nhalf.sites.lab.status import status

    build.require_root()
    found = status(state.load(request.name))
    if request.json:
        emit_json(found)
    else:
        show_status(stdout_console(), found)


@dataclass(frozen=True, kw_only=True)
class Link(Which, Tables, heading="How it is changed"):
    """Which link becomes how."""

    which: Annotated[str, Word("NODE, or A-B.", "LINK")]
    rate: Annotated[str | None, Option("The rate from now on: 100mbit.")] = None
    unplug: Annotated[bool, Option("Pull the cable out.", "--down")] = False
    plug: Annotated[bool, Option("Plug it in again.", "--up")] = False


def link(request: Link) -> None:
    """Change a link while things run: its rate, or whether it is there at all.

    nhalf lab link n3 --rate 100mbit
    """
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, state
    from nhalf.sites.lab.shaping import parse_link_rate, rate_text

    if request.plug and request.unplug:
        raise InputError("a link cannot be up and down", "take one of --up and --down")
    rate_Bps = None if request.rate is None else parse_link_rate(request.rate)
    build.require_root()
    up = request.plug if request.plug or request.unplug else None
    found = faults.change_link(state.load(request.name), request.which, rate_Bps, up)
    if request.json:
        emit_json(found)
    else:
        words = "up" if found["up"] else "down"
        stdout_console().print(f"{found['link']} {words}, {rate_text(found['rate_Bps'])}")


def kill(request: WhichNode) -> None:
    """Cut the power of a node: all that runs there dies at once, and its link.

    nhalf lab kill n2
    """
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, state

    build.require_root()
    node = request.node
    died = faults.kill_node(state.load(request.name), node)
    if request.json:
        emit_json({"node": node, "processes": died})
    else:
        stdout_console().print(f"{node} is dead: {died} processes ended with it")


def restart(request: WhichNode) -> None:
    """Start a node again, as after a power cut.

    nhalf lab restart n2
    """
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, slurm, state

    build.require_root()
    node = request.node
    lab = state.load(request.name)
    since_s = time.time()
    faults.restart_node(lab, lab.layout.node(node))
    found = slurm.wait_until_back(lab, node, since_s)
    if request.json:
        emit_json({"node": node, "state": found})
    else:
        stdout_console().print(f"{node} is back: {found}")


@dataclass(frozen=True, kw_only=True)
class Down(Tables, heading="Which lab"):
    """What is removed."""

    name: Annotated[str, Option("Which lab.")] = DEFAULT


def down(request: Down) -> None:
    """Remove everything that was made for the cluster, also what a crash has left.

    nhalf lab down
    """
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build
    from nhalf.sites.lab.remove import remove_named

    _outside()
    name = request.name
    build.require_root()
    existed = remove_named(name)
    if request.json:
        emit_json({"lab": name, "removed": existed})
    else:
        stdout_console().print(f"{name} is removed" if existed else f"there was no lab {name}")


COMMANDS = {
    "up": up,
    "exec": execute,
    "status": show,
    "link": link,
    "kill": kill,
    "restart": restart,
    "down": down,
}


def _slow(given: Iterable[str]) -> dict[str, float]:
    from nhalf.sites.lab.shaping import parse_link_rate

    rates_Bps = {}
    for text in given:
        link, equals, rate = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} names no rate", "write --slow n2=100mbit")
        rates_Bps[link] = parse_link_rate(rate)
    return rates_Bps


def _outside() -> None:
    """Raises InputError inside of a lab: it would saw off the branch that it sits on."""
    if "NHALF_LAB" in os.environ:
        raise InputError(
            f"this shell runs inside of the lab {os.environ['NHALF_LAB']}", "leave it first"
        )
