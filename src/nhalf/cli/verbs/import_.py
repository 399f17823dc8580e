# SPDX-License-Identifier: Apache-2.0
"""`nhalf import`: logs of other benchmark suites become a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.exchange.logs.imported_run import Source
    from nhalf.store.run import Run


def command(
    files: Annotated[list[Path], typer.Argument(help="Logs, of any known suite.")],
    out: Annotated[Path, typer.Option(help="Run directory to make.")],
    ranks: Annotated[
        str,
        typer.Option(
            help="Number of ranks where a log does not say it: one for all, or one for each log."
        ),
    ] = "",
    mpi: Annotated[str, typer.Option(help="Name of the library, which few logs say.")] = "",
    transport: Annotated[
        str, typer.Option(help="Transport, where it is another one than the log lets guess.")
    ] = "",
    placement: Annotated[
        str, typer.Option(help="Placement of the ranks; only equal ones are compared.")
    ] = "cores",
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail where a line cannot be used.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read logs of OSU, IMB, NetPIPE, mpiGraph, ReproMPI or nccl-tests into a run."""
    from nhalf.cli.verbs.run import run_json
    from nhalf.exchange.logs.imported_run import write_run
    from nhalf.facts.facts import Facts
    from nhalf.present.terminal.output import emit_json, stdout_console

    sources = _read(files, _ranks(ranks, len(files)), strict)
    run = write_run(sources, out, placement=placement, mpi=mpi, transport=transport)
    if json:
        emit_json(run_json(run, Facts.of([run])) | {"files": _told(sources)})
        return
    for line in _lines(run, sources):
        stdout_console().print(line, markup=False, soft_wrap=True)


def _ranks(text: str, files: int) -> list[int]:
    """A number of ranks for every file, 0 where nothing was said."""
    words = text.replace(",", " ").split()
    counts = [int(word) if word.isdecimal() and len(word) < 8 else 0 for word in words]
    if len(counts) not in (0, 1, files) or not all(0 < count <= 1 << 20 for count in counts):
        raise InputError(
            f"{text!r} is no number of ranks for {files} files",
            "give one number for all, or one for each file, separated by commas",
        )
    return counts if len(counts) == files else (counts or [0]) * files


def _read(files: list[Path], ranks: list[int], strict: bool) -> list[Source]:
    """All logs; tells what could not be used, or fails where that was asked for."""
    from nhalf.exchange.logs.imported_run import Source
    from nhalf.exchange.logs.log import read_file

    sources = []
    for path, count in zip(files, ranks, strict=True):
        log, size_bytes = read_file(path, count)
        if log.passed_over:
            first = log.passed_over[0]
            lines = "1 line" if len(log.passed_over) == 1 else f"{len(log.passed_over)} lines"
            told = f"{path}: {lines} passed over, first line {first.line}: {first.text!r}"
            if strict:
                raise InputError(told, "without --strict the others are imported")
            sys.stderr.write(f"nhalf: {told}\n")
        sources.append(Source(path, size_bytes, log))
    return sources


def _told(sources: list[Source]) -> list[dict[str, object]]:
    """What was found in each file, for scripts."""
    return [
        {
            "file": str(source.path),
            "suites": source.log.suites,
            "points": len(source.log.points),
            "passed_over": len(source.log.passed_over),
        }
        for source in sources
    ]


def _lines(run: Run, sources: list[Source]) -> list[str]:
    """What was found in each file, and where it is now, for people."""
    from nhalf.exchange.logs.log import known

    what = known()
    lines = [
        f"{source.path}: {len(source.log.points)} points, "
        f"{' and '.join(what[suite] for suite in source.log.suites)}"
        for source in sources
    ]
    return [*lines, "", f"run     {run.path}", f"show    nhalf show {run.path}"]
