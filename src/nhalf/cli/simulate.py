# SPDX-License-Identifier: Apache-2.0
"""`nhalf simulate`: measure a machine that is not here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nhalf.errors import InputError

if TYPE_CHECKING:
    from nhalf.machines.machine import Machine
    from nhalf.study.plan import Block


def command(
    study: Annotated[str, typer.Argument(help="A study by name, or a TOML file of your own.")],
    machine: Annotated[
        str, typer.Option(help="A machine of record (nhalf machines list), or a machine file.")
    ],
    ranks: Annotated[
        str, typer.Option(help="Numbers of ranks: 4,8,16; by default all nodes.")
    ] = "",
    sizes: Annotated[str, typer.Option("--bytes", help="Message sizes: 0,1K or 0:64K.")] = "",
    axis: Annotated[
        list[str] | None, typer.Option(help="Values of an axis: algorithm=u-torus; repeatable.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="What if: network.bandwidth=2x and the like; repeatable."),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(help="A cost of multicasts: nic_forward=2e-6 (seconds); repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run directory to make.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Write the HTML report, too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither bar nor summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure on a simulated machine; the run is one like any other, marked as simulated."""
    from nhalf.cli.run import finish, measured
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.simulate import multicast_session
    from nhalf.study.progress import Progress

    changed = change(catalogue.machine(machine), set_ or [])
    blocks = _blocks(study, changed, ranks, sizes, axis or [])
    if not multicast_session.is_multicast(blocks):
        raise InputError(f"{study} is no study of multicasts", "simulate multicast")
    costs = _pairs(cost or [], "--cost nic_forward=2e-6")
    prepared = multicast_session.begin(changed, study, blocks, out, costs)
    outcome = measured(prepared, Progress(quiet or json))
    finish(outcome, json=json, quiet=quiet, report=report, style="")


def _blocks(study: str, machine: Machine, ranks: str, sizes: str, axis: list[str]) -> list[Block]:
    """The blocks of a study, with what the user wants otherwise."""
    import msgspec

    from nhalf.simulate.multicast_session import nodes_of
    from nhalf.study import catalogue
    from nhalf.study.axes import parse_ranks

    nodes = nodes_of(machine)
    axes = _pairs(axis, "--axis group=1,2,4")
    found = []
    for block in catalogue.study(study, nodes).blocks:
        changes: dict[str, Any] = {"axes": {**block.axes, **axes}}
        if ranks:
            changes["ranks"] = parse_ranks(ranks, nodes)
        if sizes:
            changes["bytes"] = sizes
        found.append(msgspec.structs.replace(block, **changes))
    return found


def _pairs(texts: list[str], example: str) -> dict[str, str]:
    """Texts of the form name=value by name."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"{text!r} is not written as name=value", f"write {example}")
        pairs[name.strip()] = value.strip()
    return pairs
