# SPDX-License-Identifier: Apache-2.0
"""`nhalf doctor`: look before measuring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nhalf.cli.options import Prefixes, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from nhalf.sites.examine import Finding

MARKS = {"good": "[green]✓[/]", "absent": "[dim]–[/]", "doubt": "[yellow]![/]", "bad": "[red]✗[/]"}
EXIT_MISSING = 3
NAME_WIDTH = 22


@dataclass(frozen=True, kw_only=True)
class Request(Prefixes, Tables):
    """Where libraries are looked for."""


def command(request: Request) -> int:
    """Check the setup; report problems and how to fix them.

    nhalf doctor
    """
    from nhalf.mpi.discover import discover
    from nhalf.present.terminal.output import console, emit_json, stdout_console
    from nhalf.sites.examine import can_measure, examine

    shown = None if request.json else stdout_console()
    findings = []
    with console().status("looking for MPI libraries …") as status:
        found = discover(request.mpi_prefix, ask_failed_again=True)
        for finding in examine(found, lambda what: status.update(f"looking at {what} …")):
            findings.append(finding)
            if shown:
                _show(shown, finding)
    ready = can_measure(findings)
    if shown:
        _conclude(shown, findings, ready)
    else:
        emit_json({"ready": ready, "findings": findings})
    return 0 if ready else EXIT_MISSING


def _show(console: Console, one: Finding) -> None:
    """A line for a finding; what is not good has its remedy below it."""
    from rich.markup import escape
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=1)
    table.add_column(width=NAME_WIDTH, overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    found = escape(one.found)
    if one.remedy:
        found += f"\n[cyan]→ {escape(one.remedy)}[/]"
    table.add_row(MARKS[one.state], f"[bold]{escape(one.name)}[/]", found)
    console.print(table)


def _conclude(console: Console, findings: Sequence[Finding], ready: bool) -> None:
    doubts = sum(one.state in {"doubt", "bad"} for one in findings)
    verdict = "ready to measure: nhalf run" if ready else "not ready to measure"
    if doubts:
        verdict += f" ({doubts} thing{'s' if doubts > 1 else ''} to look at above)"
    console.print(f"\n[bold {'green' if ready else 'red'}]{verdict}[/]")
