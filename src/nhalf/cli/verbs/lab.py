# SPDX-License-Identifier: Apache-2.0
"""Make a cluster with Slurm on this machine, for those who have none."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from nhalf.base.errors import InputError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Make a cluster with Slurm on this machine, for those who have none.",
)

Name = Annotated[str, typer.Option(help="Which lab.", envvar="NHALF_LAB", show_envvar=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DEFAULT = "lab"


@app.command("up")
def up(
    nodes: Annotated[int, typer.Option(help="How many nodes: n1, n2, …")] = 4,
    rate: Annotated[str | None, typer.Option(help="Of every link: 500mbit, 1gbit.")] = None,
    topology: Annotated[str, typer.Option(help="star, ring or tree.")] = "star",
    cpus: Annotated[int, typer.Option(help="What Slurm is told of a node.")] = 4,
    slow: Annotated[
        list[str] | None,
        typer.Option(help="NODE=RATE or A-B=RATE: a link with another rate; may be repeated."),
    ] = None,
    name: Annotated[str, typer.Option(help="What to call it; several may be up.")] = DEFAULT,
    install: Annotated[
        bool, typer.Option(help="Let apt-get install what is missing, on Debian.")
    ] = True,
    json: Json = False,
) -> None:
    """Start a cluster: a network namespace per node, links of that rate, Slurm."""
    from nhalf.present.terminal.lab import show_status
    from nhalf.present.terminal.output import console, emit_json, stdout_console
    from nhalf.sites.lab import build, packages
    from nhalf.sites.lab.shaping import parse_link_rate
    from nhalf.sites.lab.status import status

    _outside()
    rate_Bps = None if rate is None else parse_link_rate(rate)
    planned = build.plan(name, nodes, topology, cpus, rate_Bps, _slow(slow or []))
    build.require_root()
    packages.ensure(install, lambda text: console().print(text, markup=False, soft_wrap=True))
    with console().status("starting …") as shown:
        lab = build.build(planned, lambda what: shown.update(f"starting: {what} …"))
    if json:
        emit_json(status(lab))
    else:
        show_status(stdout_console(), status(lab), fresh=True)


@app.command("exec", context_settings={"allow_interspersed_args": False})
def execute(
    command: Annotated[list[str], typer.Argument(help="What to run.", metavar="COMMAND…")],
    node: Annotated[str | None, typer.Option(help="Run it there, not on the head.")] = None,
    name: Name = DEFAULT,
) -> None:
    """Run a command in the cluster: on its head, where srun, salloc and sbatch are at home."""
    from nhalf.sites.lab import build, environment, state
    from nhalf.sites.lab.layout import HEAD

    build.require_root()
    lab = state.load(name)
    place = HEAD if node in (None, HEAD) else lab.layout.node(str(node))
    environment.execute(lab, place, command)


@app.command("status")
def show(name: Name = DEFAULT, json: Json = False) -> None:
    """Show nodes, links and jobs, as Slurm and the links say."""
    from nhalf.present.terminal.lab import show_status
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, state
    from nhalf.sites.lab.status import status

    build.require_root()
    found = status(state.load(name))
    if json:
        emit_json(found)
    else:
        show_status(stdout_console(), found)


@app.command("link")
def link(
    which: Annotated[str, typer.Argument(help="NODE, or A-B.", metavar="LINK")],
    rate: Annotated[str | None, typer.Option(help="The rate from now on: 100mbit.")] = None,
    unplug: Annotated[bool, typer.Option("--down", help="Pull the cable out.")] = False,
    plug: Annotated[bool, typer.Option("--up", help="Plug it in again.")] = False,
    name: Name = DEFAULT,
    json: Json = False,
) -> None:
    """Change a link while things run: its rate, or whether it is there at all."""
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, state
    from nhalf.sites.lab.shaping import parse_link_rate, rate_text

    if plug and unplug:
        raise InputError("a link cannot be up and down", "take one of --up and --down")
    rate_Bps = None if rate is None else parse_link_rate(rate)
    build.require_root()
    up = plug if plug or unplug else None
    found = faults.change_link(state.load(name), which, rate_Bps, up)
    if json:
        emit_json(found)
    else:
        words = "up" if found["up"] else "down"
        stdout_console().print(f"{found['link']} {words}, {rate_text(found['rate_Bps'])}")


@app.command("kill")
def kill(
    node: Annotated[str, typer.Argument(help="Which one.", metavar="NODE")],
    name: Name = DEFAULT,
    json: Json = False,
) -> None:
    """Cut the power of a node: all that runs there dies at once, and its link."""
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, state

    build.require_root()
    died = faults.kill_node(state.load(name), node)
    if json:
        emit_json({"node": node, "processes": died})
    else:
        stdout_console().print(f"{node} is dead: {died} processes ended with it")


@app.command("restart")
def restart(
    node: Annotated[str, typer.Argument(help="Which one.", metavar="NODE")],
    name: Name = DEFAULT,
    json: Json = False,
) -> None:
    """Start a node again, as after a power cut."""
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build, faults, slurm, state

    build.require_root()
    lab = state.load(name)
    since_s = time.time()
    faults.restart_node(lab, lab.layout.node(node))
    found = slurm.wait_until_back(lab, node, since_s)
    if json:
        emit_json({"node": node, "state": found})
    else:
        stdout_console().print(f"{node} is back: {found}")


@app.command("down")
def down(
    name: Annotated[str, typer.Option(help="Which lab.")] = DEFAULT, json: Json = False
) -> None:
    """Remove everything that was made for the cluster, also what a crash has left."""
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.sites.lab import build
    from nhalf.sites.lab.remove import remove_named

    _outside()
    build.require_root()
    existed = remove_named(name)
    if json:
        emit_json({"lab": name, "removed": existed})
    else:
        stdout_console().print(f"{name} is removed" if existed else f"there was no lab {name}")


def _slow(given: list[str]) -> dict[str, float]:
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
