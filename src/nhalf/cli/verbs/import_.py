# SPDX-License-Identifier: Apache-2.0
"""`nhalf import`: logs of other benchmark suites become a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, Tables

if TYPE_CHECKING:
    from nhalf.exchange.logs.imported_run import Source
    from nhalf.store.run import Run


@dataclass(frozen=True, kw_only=True)
class Request(Tables, heading="What the logs leave open"):
    """Which logs, and what they do not say."""

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
    """Import logs of OSU, IMB, NetPIPE, mpiGraph, ReproMPI, nccl-tests or mpiP.

    nhalf import old/osu_latency.log --out runs/old
    """
    from nhalf.cli.outcome import run_json
    from nhalf.exchange.logs.imported_run import write_run
    from nhalf.facts.facts import Facts
    from nhalf.present.terminal.output import emit_json, stdout_console

    files = request.files
    if _is_profile(files[0]):
        _import_profile(request)
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
    """Whether a file is a report of mpiP, whose import is a trace and no run."""
    from nhalf.exchange.program.mpip import is_mpip

    try:
        with path.open("rb") as file:
            return is_mpip(file.read(64).decode("utf-8", errors="replace"))
    except OSError:
        return False


def _import_profile(request: Request) -> None:
    """One report of mpiP into the folder of a trace."""
    from nhalf.exchange.program.mpip import read_mpip, write_profile
    from nhalf.present.terminal.output import emit_json, stdout_console

    if len(request.files) > 1:
        raise InputError("reports of mpiP are imported one at a time", "name one")
    path, out = request.files[0], request.out
    profile = read_mpip(path.read_text("utf-8", errors="replace"), str(path))
    write_profile(profile, out)
    if request.json:
        emit_json({"run": str(out.absolute()), "calls": profile.calls.height})
    else:
        text = f"trace   {out}\nshow    nhalf show {out}"
        stdout_console().print(text, markup=False, soft_wrap=True)


def _ranks(text: str, files: int) -> list[int]:
    """A number of ranks for every file, 0 if nothing was said."""
    words = text.replace(",", " ").split()
    counts = [int(word) if word.isdecimal() and len(word) < 8 else 0 for word in words]
    if len(counts) not in (0, 1, files) or not all(0 < count <= 1 << 20 for count in counts):
        raise InputError(
            f"{text!r} is not a number of ranks for {files} files",
            "give one number for all, or one for each file, separated by commas",
        )
    return counts if len(counts) == files else (counts or [0]) * files


def _read(files: Sequence[Path], ranks: list[int], strict: bool) -> list[Source]:
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
