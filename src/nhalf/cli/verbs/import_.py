"""`nhalf import`: logs of other benchmark suites become runs, traces of other tools traces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.printable import CONTROL, say
from nhalf.base.request import REQUIRED, option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.outcome import run_json
from nhalf.cli.sides import parse_flop_rate
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console

with lazily(globals()):
    from nhalf.exchange.logs.imported_run import write_run
    from nhalf.exchange.logs.log import LogFile, formats, read_file
    from nhalf.exchange.program.foreign import read_foreign, reader_of
    from nhalf.exchange.program.mpip import is_mpip, read_mpip, write_profile
    from nhalf.exchange.program.written import write_program
    from nhalf.facts.facts import Facts
    from nhalf.store.run import Run

GROUP = "measure"


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="What the logs leave open"):
    """The logs, and values that they do not contain."""

    files: tuple[Path, ...] = word(
        REQUIRED, "Log files of any supported suite, or one trace.", "FILE..."
    )
    out: Path | None = option(
        None, "Run directory to create; default: runs/ and the first file's name.", heading=OUTPUT
    )
    ranks: str = option(
        "", "Number of ranks if logs omit it: one for all, for each log, or for each table."
    )
    pattern: str = option("", "Pattern of a log of nccl-tests that does not name its operation.")
    flop_rate: str = option(
        "", "Operations per second of a rank, for SimGrid's traces, which count operations."
    )
    mpi: str = option("", "Library name, which few logs contain.")
    transport: str = option("", "Transport, if it cannot be inferred from the log.")
    placement: str = option("cores", "Placement of the ranks; only equal placements are compared.")
    strict: bool = option(False, "Fail on lines that cannot be used.")


def command(request: Request) -> None:
    """Import logs of OSU, IMB, nccl-tests and others, and traces of Score-P, TAU, mpiP and GOAL.

    nhalf import old/osu_latency.log --out runs/old
    nhalf import nccl.log --pattern allreduce
    nhalf import scorep-run/traces.otf2 --out runs/solver
    nhalf import lulesh.goal --out runs/lulesh
    """
    files = request.files
    if _is_profile(files[0]):
        if len(request.files) > 1:
            raise InputError("reports of mpiP are imported one at a time", "name one")
        path, out = request.files[0], _out(request)
        profile = read_mpip(path.read_text("utf-8", errors="replace"), str(path))
        write_profile(profile, out)
        _say_imported(request, out, profile.calls.height)
        return
    if _import_program(request):
        return
    if CONTROL.search(request.mpi):
        raise InputError("--mpi holds control characters", "give a name that can be read")
    sources = _read(request, _ranks(request.ranks, len(files)))
    run, notes = write_run(
        sources,
        _out(request),
        placement=request.placement,
        mpi=request.mpi,
        transport=request.transport,
    )
    if request.json:
        more = {"files": _told(sources), "notes": notes}
        emit_json(run_json(run, Facts.of([run])) | more)
        return
    print_lines(stdout_console(), *_lines(run, sources, notes))


def _out(request: Request) -> Path:
    """The folder of the run: the user's, or one that does not exist yet, named after the file."""
    if request.out is not None:
        return request.out
    stem = request.files[0].resolve().stem or "imported"
    folder, number = Path("runs") / stem, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{stem}-{number}"
    return folder


def _is_profile(path: Path) -> bool:
    """Whether a file is a report of mpiP, which is imported as a trace."""
    try:
        with path.open("rb") as file:
            return is_mpip(file.read(64).decode("utf-8", errors="replace"))
    except OSError:
        return False


def _import_program(request: Request) -> bool:
    """Import a program into a trace folder; False if the first file is none."""
    path = request.files[0]
    flop_rate = parse_flop_rate(request.flop_rate)
    if reader_of(path) is None:
        if flop_rate:
            raise InputError(f"{path} counts no operations", "leave out --flop-rate")
        return False
    if len(request.files) > 1:
        raise InputError("programs are imported one at a time", "name one")
    program, out = read_foreign(path, flop_rate), _out(request)
    assert program is not None
    write_program(program, out)
    _say_imported(request, out, program.calls.height)
    return True


def _say_imported(request: Request, out: Path, calls: int) -> None:
    if request.json:
        emit_json({"run": str(out.absolute()), "calls": calls})
    else:
        text = f"trace   {out}\nshow    nhalf show {out}"
        print_lines(stdout_console(), text)


def _ranks(text: str, files: int) -> list[tuple[int, ...]]:
    """The numbers of ranks of each file: none, one, or one for each of its tables."""
    words = text.replace(",", " ").split()
    counts = [int(word) if word.isdecimal() and len(word) < 8 else 0 for word in words]
    is_of_tables = files == 1 and len(counts) > 1
    if not is_of_tables and len(counts) not in (0, 1, files):
        counts = [0]
    if not all(0 < count <= 1 << 20 for count in counts):
        raise InputError(
            f"{text!r} is not a number of ranks for {files} files",
            "give one number for all, or one for each file, separated by commas; one for each "
            "table of a single file",
        )
    if is_of_tables:
        return [tuple(counts)]
    return [(count,) for count in counts] if len(counts) == files else [tuple(counts)] * files


def _read(request: Request, ranks: list[tuple[int, ...]]) -> list[LogFile]:
    """Read all logs; warns about unusable lines, or raises InputError for them if `strict`."""
    sources = []
    for path, counts in zip(request.files, ranks, strict=True):
        log, size_bytes = read_file(path, counts, request.pattern)
        if log.passed_over:
            first = log.passed_over[0]
            lines = "1 line" if len(log.passed_over) == 1 else f"{len(log.passed_over)} lines"
            message = f"{path}: {lines} passed over, first line {first.line}: {first.text!r}"
            if request.strict:
                raise InputError(message, "without --strict the others are imported")
            say(message)
        sources.append(LogFile(path, size_bytes, log))
    return sources


def _told(sources: list[LogFile]) -> list[dict[str, object]]:
    """The contents of each file, for JSON."""
    return [
        {
            "file": str(source.path),
            "suites": source.log.suites,
            "points": len(source.log.points),
            "passed_over": len(source.log.passed_over),
            "tables": [
                {"table": count.name, "ranks": count.ranks, "line": count.line or None}
                for count in source.log.counts
            ],
        }
        for source in sources
    ]


def _lines(run: Run, sources: list[LogFile], notes: list[str]) -> list[str]:
    """Lines with the contents of each file, what said the ranks, and the path of the run."""
    suite_titles = formats()
    lines = [
        f"{source.path}: {len(source.log.points)} points, "
        f"{' and '.join(suite_titles[suite] for suite in source.log.suites)}"
        for source in sources
    ]
    lines += [
        f"{count.ranks} ranks of {count.name}: line {count.line} of {source.path}, {count.text!r}"
        for source in sources
        for count in source.log.counts
        if count.logged and count.logged == count.ranks
    ]
    lines += [f"note    {note}" for note in notes]
    return [*lines, "", f"run     {run.path}", f"show    nhalf show {run.path}"]
