"""`nhalf doctor`: check the setup before measuring."""

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import MissingError, NhalfError
from nhalf.base.request import option
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PrefixOptions, TableOptions
from nhalf.mpi import Library
from nhalf.present.terminal.output import console, emit_json, stdout_console

with lazily(globals()):
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from nhalf.base.compiled import CompiledProgram
    from nhalf.mpi.discover import discover
    from nhalf.mpi.preload import own_program
    from nhalf.mpi.simgrid import programs, simgrid
    from nhalf.sites.build import Further, build
    from nhalf.sites.examine import ExaminedItem, can_measure, examine

GROUP = "setup"
FORMS = {"--completion": "completion", "--selftest": "selftest"}
MARKS = {"good": "[green]✓[/]", "absent": "[dim]–[/]", "doubt": "[yellow]![/]", "bad": "[red]✗[/]"}
EXIT_MISSING = 3
NAME_WIDTH = 22


@dataclass(frozen=True, kw_only=True)
class Request(PrefixOptions, TableOptions):
    """Where to search for libraries, and whether to compile what runs on them need."""

    build: bool = option(
        False, "Compile missing probes, tracers and simulators now, not at their first use."
    )


def command(request: Request) -> int:
    """Check the setup; report problems and how to fix them.

    nhalf doctor
    nhalf doctor --build
    """
    shown = None if request.json else stdout_console()
    findings = []
    with console().status("looking for MPI libraries …") as status:

        def at(subject: str) -> None:
            status.update(f"looking at {escape(subject)} …")

        discovery = discover(request.mpi_prefix, ask_failed_again=True)
        for finding in examine(discovery, at):
            findings.append(finding)
            if shown:
                _show(shown, finding)
    if request.build:
        for finding in build(discovery.libraries, _further(discovery.libraries)):
            findings.append(finding)
            if shown:
                _show(shown, finding)
    ready = can_measure(findings)
    if shown:
        _conclude(shown, findings, ready)
    else:
        emit_json({"ready": ready, "findings": findings})
    return 0 if ready else EXIT_MISSING


def _further(libraries: Sequence[Library]) -> Further:
    """What traces, routed collectives and simulations need, beside the probes."""
    from nhalf.measure.traced.start import TRACE
    from nhalf.mpi.preload import COLLECTIVES

    further: dict[str, dict[str, CompiledProgram | NhalfError]] = {}
    for library in libraries:
        if library.compiler is not None:
            for name, preloaded in (("tracer", TRACE), ("collectives", COLLECTIVES)):
                program = own_program(library, libraries, preloaded)
                further.setdefault(name, {})[library.name] = program
    try:
        further["simulator"] = {program.name: program for program in programs(simgrid())}
    except MissingError as error:
        further["simulator"] = {"": error}
    return further


def _show(console: Console, finding: ExaminedItem) -> None:
    """Print a line for a finding, and its remedy below it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(width=NAME_WIDTH, overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    detail = escape(finding.found)
    if finding.remedy:
        detail += f"\n[cyan]→ {escape(finding.remedy)}[/]"
    table.add_row(MARKS[finding.state], f"[bold]{escape(finding.name)}[/]", detail)
    console.print(table)


def _conclude(console: Console, findings: Sequence[ExaminedItem], ready: bool) -> None:
    problem_count = sum(finding.state in {"doubt", "bad"} for finding in findings)
    verdict = "ready to measure: nhalf run" if ready else "not ready to measure"
    if problem_count:
        verdict += f" ({problem_count} thing{'s' if problem_count > 1 else ''} to look at above)"
    console.print(f"\n[bold {'green' if ready else 'red'}]{verdict}[/]")
