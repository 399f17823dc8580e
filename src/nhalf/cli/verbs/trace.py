"""`nhalf trace`: trace the MPI calls of an unmodified program."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import InputError, Interrupted, NhalfError, how_ended
from nhalf.base.numbers import whole
from nhalf.base.printable import say
from nhalf.base.request import option, word
from nhalf.base.units import format_size, format_time
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, QuietOption
from nhalf.present.terminal.output import emit_json
from nhalf.present.terminal.tables import show_table

with lazily(globals()):
    from nhalf.decide.program.basis import shown_run
    from nhalf.facts.program.operations import is_non_blocking
    from nhalf.facts.program.program import Program
    from nhalf.measure.traced.collect import collect
    from nhalf.measure.traced.start import parse_injection, start
    from nhalf.measure.traced.tables import TraceFolder, totals
    from nhalf.present.program.answer import answer_json, answer_lines

GROUP = "program"
INJECTION = "What to make slower"


@dataclass(frozen=True, kw_only=True)
class Traced(QuietOption, heading="What to trace"):
    """The command to trace, and the level of detail."""

    command: tuple[str, ...] = word(
        (), "Command to trace: mpiexec -n 4 ./program …", "COMMAND…", takes_remaining=True
    )
    detail: str = option(
        "counts", "Level of detail: counts, or timeline (every call with its time)."
    )
    collect: Path | None = option(None, "Build the tables of an interrupted trace.")
    mpi_t: bool = option(
        True, "Ask the MPI library at the end for its limits and forced algorithms (MPI_T)."
    )
    inject: tuple[str, ...] = option(
        (),
        "Slow the program down: latency=5us, overhead=2us or byte=1ns of each message, "
        "noise=1% of computing, slow-rank=3:1.1; repeatable.",
        heading=INJECTION,
    )
    calls: str = option(
        "", "Delay only what these calls complete, e.g. MPI_Recv,MPI_Wait.", heading=INJECTION
    )
    source: str = option("", "Delay only messages from these ranks.", "--from", heading=INJECTION)
    target: str = option("", "Delay only messages to these ranks.", "--to", heading=INJECTION)
    out: Path | None = option(
        None, "Folder to create; default: runs/trace-DATE-TIME.", heading=OUTPUT
    )


def command(request: Traced) -> int:
    """Trace every MPI call of an unmodified program: partner, size and time.

    The program's output and exit code are its own, even where nothing of it could be traced.

    nhalf trace --out runs/traced -- mpiexec -n 4 ./program
    nhalf trace --detail timeline --out runs/timeline -- mpiexec -n 4 ./program
    nhalf trace --inject latency=5us --out runs/slower -- mpiexec -n 4 ./program
    """
    injection = parse_injection(request.inject, request.calls, request.source, request.target)
    if request.collect is not None:
        if request.command or request.inject:
            raise InputError("--collect runs no command", "give either --collect or a command")
        _print_totals(collect(request.collect), request)
        return 0
    if not request.command:
        raise InputError("no command is given", "give it at the end: -- mpiexec -n 4 ./program")
    folder = request.out or Path("runs") / time.strftime("trace-%Y%m%d-%H%M%S")
    try:
        code = start(request.command, folder, request.detail, injection, asks_library=request.mpi_t)
        traced = _collected(folder, code)
    except KeyboardInterrupt as error:
        if not folder.exists():
            raise
        raise Interrupted(
            f"{how_ended(error)}; what the ranks recorded is kept",
            f"build its tables with: nhalf trace --collect {shlex.quote(str(folder))}",
        ) from None
    if traced is None:
        return code
    _print_totals(traced, request)
    is_network_slower = traced.trace.virtual is not None and injection.is_of_all_messages
    if injection.is_on_network and not is_network_slower:
        _name_undelayed(traced)
    return code


def _collected(folder: Path, code: int) -> TraceFolder | None:
    """Collect a trace; None with a line on standard error if there is none, for whatever becomes
    of the trace, the exit code is the command's own.
    """
    try:
        return collect(folder, code)
    except NhalfError as error:
        say(f"error: {error}")
        return None


def _name_undelayed(traced: TraceFolder) -> None:
    """Say on standard error which calls move data that could not be delayed."""
    names = [
        row["call"]
        for row in totals(traced.table("calls"))
        if row["kind"] == "one-sided"
        or (row["kind"] == "collective" and is_non_blocking(row["call"]))
        or "eighbor" in row["call"]
    ]
    if names:
        listed = ", ".join(dict.fromkeys(names))
        say(f"not delayed, as their messages are not known: {listed}")


def _print_totals(traced: TraceFolder, request: Traced) -> None:
    """Print totals by call, or one JSON object, with the notes."""
    program = Program.open(traced.path)
    rows = totals(shown_run(program).calls.lazy())
    if request.json:
        emit_json(
            {
                "run": str(traced.path),
                "ranks": len(traced.trace.ranks),
                "complete": traced.trace.complete,
                "exit_code": traced.trace.exit_code,
                "calls": rows,
                "notes": traced.trace.notes,
                **answer_json(program),
            }
        )
    elif not request.quiet:
        forms: dict[str, Callable[[Any], str]] = {
            **{"call": str, "kind": str, "count": whole, "bytes": format_size},
            **{"time_s": format_time, "waiting_s": format_time},
        }
        shown = [[form(row[name]) for name, form in forms.items()] for row in rows]
        show_table([name.removesuffix("_s") for name in forms], shown)
        lines = answer_lines(program)
        for line in (*traced.trace.notes, f"trace   {traced.path}", *lines):
            sys.stdout.write(f"{line}\n")
