# SPDX-License-Identifier: Apache-2.0
"""`nhalf import`: convert logs of other benchmark suites to a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, TableOptions

if TYPE_CHECKING:
    from nhalf.exchange.logs.imported_run import Source
    from nhalf.store.run import Run


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="What the logs leave open"):
    """The logs, and values that they do not contain."""

    files: Annotated[tuple[Path, ...], Word("Log files of any supported suite.", "FILE...")]
    out: Annotated[Path, Option("Run directory to create.", heading=OUTPUT)]
    ranks: Annotated[
        str,
        Option("Number of ranks if a log omits it: one for all, or one per log."),
    ] = ""
    mpi: Annotated[str, Option("Library name, which few logs contain.")] = ""
    transport: Annotated[str, Option("Transport, if it cannot be inferred from the log.")] = ""
    placement: Annotated[
        str, Option("Placement of the ranks; only equal placements are compared.")
    ] = "cores"
    strict: Annotated[bool, Option("Fail on lines that cannot be used.")] = False


def command(request: Request) -> None:
    """Import logs of OSU, IMB, NetPIPE, mpiGraph, ReproMPI or nccl-tests, and programs.

    nhalf import old/osu_latency.log --out runs/old
    nhalf import lulesh.goal --out runs/lulesh
    """
    from nhalf.cli.outcome import run_json
    from nhalf.exchange.logs.imported_run import write_run
    from nhalf.facts.facts import Facts
    from nhalf.present.terminal.output import emit_json, stdout_console

    files = request.files
    if _is_profile(files[0]):
        _import_profile(request)
        return
    if _import_program(request):
        return
    sources = _read(files, _ranks(request.ranks, len(files)), request.strict)
    run = write_run(
        sources,
        request.out,
        placement=request.placement,
        mpi=request.mpi,
        transport=request.transport,
    )
    if request.json:
        emit_json(run_json(run, Facts.of([run])) | {"files": _told(sources)})
        return
    for line in _lines(run, sources):
        stdout_console().print(line, markup=False, soft_wrap=True)


def _is_profile(path: Path) -> bool:
    """Whether a file is a report of mpiP, which is imported as a trace."""
    from nhalf.exchange.program.mpip import is_mpip

    try:
        with path.open("rb") as file:
            return is_mpip(file.read(64).decode("utf-8", errors="replace"))
    except OSError:
        return False


def _import_profile(request: Request) -> None:
    """Import a report of mpiP into a trace folder."""
    from nhalf.exchange.program.mpip import read_mpip, write_profile

    if len(request.files) > 1:
        raise InputError("reports of mpiP are imported one at a time", "name one")
    path, out = request.files[0], request.out
    profile = read_mpip(path.read_text("utf-8", errors="replace"), str(path))
    write_profile(profile, out)
    _say_imported(request, profile.calls.height)


def _import_program(request: Request) -> bool:
    """Import a schedule or an archive into a trace folder; False if the first file is neither."""
    from nhalf.exchange.program.foreign import reader_of
    from nhalf.exchange.program.written import write_program

    path = request.files[0]
    read = reader_of(path)
    if read is None:
        return False
    if len(request.files) > 1:
        raise InputError("programs are imported one at a time", "name one")
    program = read(path)
    write_program(program, request.out)
    _say_imported(request, program.calls.height)
    return True


def _say_imported(request: Request, calls: int) -> None:
    from nhalf.present.terminal.output import emit_json, stdout_console

    if request.json:
        emit_json({"run": str(request.out.absolute()), "calls": calls})
    else:
        text = f"trace   {request.out}\nshow    nhalf show {request.out}"
        stdout_console().print(text, markup=False, soft_wrap=True)


def _ranks(text: str, files: int) -> list[int]:
    """The number of ranks of each file, 0 if unspecified."""
    words = text.replace(",", " ").split()
    counts = [int(word) if word.isdecimal() and len(word) < 8 else 0 for word in words]
    if len(counts) not in (0, 1, files) or not all(0 < count <= 1 << 20 for count in counts):
        raise InputError(
            f"{text!r} is not a number of ranks for {files} files",
            "give one number for all, or one for each file, separated by commas",
        )
    return counts if len(counts) == files else (counts or [0]) * files


def _read(files: Sequence[Path], ranks: list[int], strict: bool) -> list[Source]:
    """Read all logs; warns about unusable lines, or raises InputError for them if `strict`."""
    from nhalf.exchange.logs.imported_run import Source
    from nhalf.exchange.logs.log import read_file

    sources = []
    for path, count in zip(files, ranks, strict=True):
        log, size_bytes = read_file(path, count)
        if log.passed_over:
            first = log.passed_over[0]
            lines = "1 line" if len(log.passed_over) == 1 else f"{len(log.passed_over)} lines"
            message = f"{path}: {lines} passed over, first line {first.line}: {first.text!r}"
            if strict:
                raise InputError(message, "without --strict the others are imported")
            sys.stderr.write(f"nhalf: {message}\n")
        sources.append(Source(path, size_bytes, log))
    return sources


def _told(sources: list[Source]) -> list[dict[str, object]]:
    """The contents of each file, for JSON."""
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
    """Lines with the contents of each file, and the path of the run."""
    from nhalf.exchange.logs.log import formats

    suite_titles = formats()
    lines = [
        f"{source.path}: {len(source.log.points)} points, "
        f"{' and '.join(suite_titles[suite] for suite in source.log.suites)}"
        for source in sources
    ]
    return [*lines, "", f"run     {run.path}", f"show    nhalf show {run.path}"]
