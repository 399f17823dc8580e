"""From the files of ranks, however these ended, to the tables of a trace, or why there are none."""

import re
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.files import replacing
from nhalf.base.unreadable import UNREADABLE
from nhalf.measure.traced import layout
from nhalf.measure.traced.layout import ProcessFile, process_file
from nhalf.measure.traced.reading import Process, on_clocks_of_hosts
from nhalf.measure.traced.start import RANKS, STARTED, StartedCommand
from nhalf.measure.traced.symbols import CallSites, Names
from nhalf.measure.traced.tables import DESCRIPTION, VERSION, Rank, Trace, TraceFolder, open_trace
from nhalf.measure.traced.worlds import Members, worlds
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries
from nhalf.mpi.preload import ABI, CLASSIC, content_of, handles_in, program_named
from nhalf.mpi.vendors import vendor_of
from nhalf.store import parquet

INTERPRETER = 3
"""Type of the program header that names the dynamic loader (elf.h: PT_INTERP)."""
SHARED_LIBRARY = re.compile(r"\.so(\.|$)")
SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "make")
"""They start programs, and may load modules."""
TAKERS = (b"\0dlsym\0", b"\0libpython", b"\0libperl.so", b"\0libjulia.so", b"\0libjli.so")
"""In programs that may take functions from what they open, by themselves or by an interpreter."""
USUAL = "is it a program of MPI that calls MPI_Init?"


def reason(command: Sequence[str], installed: Iterable[Library]) -> str:
    """Return the reason why a command could not be traced; USUAL if none is known."""
    libraries = list(installed)
    launcher = _launcher(command, libraries)
    for path, content in _programs(command):
        if not _has_interpreter(content):
            return f"{path} is statically linked, so no library can be loaded before its own"
        is_taker = any(name in content for name in TAKERS)
        if is_taker and not handles_in(content) and path.name not in SHELLS:
            return (
                f"{path} is linked with no MPI library; if it opens one by itself (dlopen) and "
                "takes functions from it (dlsym), no tool comes between"
            )
        if launcher is not None and (vendor_title := _another(content, launcher, libraries)):
            return f"{path} is linked with {vendor_title}, and {command[0]} starts {launcher.name}"
    return USUAL


def _programs(command: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    """Yield the programs that a command names, without a launcher before them."""
    for word in command[1:] or command:
        path = program_named(word)
        content = b"" if SHARED_LIBRARY.search(path.name) else content_of(path)
        if content and path.name != "env":
            yield path, content


def _has_interpreter(content: bytes) -> bool:
    """Whether a 64-bit program names a dynamic loader; any other is assumed to do so."""
    if len(content) < 64 or content[4] != 2:
        return True
    order = "<" if content[5] == 1 else ">"
    at, size, number = (
        struct.unpack_from(f"{order}Q", content, 32)[0],
        *struct.unpack_from(f"{order}HH", content, 54),
    )
    places = range(at, min(at + size * number, len(content) - 4), max(1, size))
    return any(
        struct.unpack_from(f"{order}I", content, place)[0] == INTERPRETER for place in places
    )


def _launcher(command: Sequence[str], installed: Iterable[Library]) -> Library | None:
    program = shutil.which(command[0])
    path = Path(program or command[0]).resolve()
    return next(
        (library for library in installed if library.mpiexec and library.mpiexec.resolve() == path),
        None,
    )


def _another(content: bytes, launcher: Library, libraries: Sequence[Library]) -> str:
    """Return the vendor of a program's library if it differs from the launcher's; else ''."""
    if ABI in content or CLASSIC not in content:
        return ""
    fitting = [
        vendor for vendor in map(vendor_of, libraries) if vendor.linked_as.encode() in content
    ]
    # The library name of one vendor may be part of another's: the longest match counts.
    best = max(fitting, key=lambda vendor: len(vendor.linked_as), default=None)
    is_own = best is None or best.linked_as == vendor_of(launcher).linked_as
    return "" if best is None or is_own else best.title


LOST = {
    layout.SIZES_ROUNDED: "more sizes than fit: some are rounded down to powers of two",
    layout.PARTNERS_JOINED: "more partners than fit: some are joined",
    layout.TIMELINE_CUT: "the timeline is cut off: it could not be written further",
    layout.DISK_FULL: "a file could not grow (full disk or file limit): some calls lack details",
    layout.SITES_JOINED: "more places that call MPI than fit: some are not known",
}


NOT_KEPT = {
    "communicators": "more communicators than fit: some have no number (65535)",
    "requests": "more requests at once than fit: some of their messages are not counted",
    "threads": "more threads at once than fit: the calls of some are not counted",
}


def collect(folder: Path, exit_code: int | None = None) -> TraceFolder:
    """Make the tables of a trace from the files of its ranks.

    Raises InputError if the folder holds no started trace or files that cannot be read,
    FailedError where no rank was traced, MissingError where the tables cannot be written.
    """
    began = _started(folder)
    # A process that did not come out of MPI_Init has none.
    of_processes = map(process_file, sorted((folder / RANKS).glob("*.json")))
    files, notes = _of_one_world([file for file in of_processes if file is not None])
    if not files:
        raise FailedError(
            f"no process of this command was traced: {' '.join(began.command)}"
            + (f" (exit code {exit_code})" if exit_code else ""),
            next(iter(began.lacking), "")
            or _ended_in_init(folder / RANKS)
            or reason(began.command, libraries()),
        )
    read = [Process.of(file, began.begin_ns) for file in files]
    processes = on_clocks_of_hosts(
        [process for process in read if process is not None], began.begin_ns
    )
    if not processes:
        raise FailedError(
            "no process could write what it counted",
            "is there room on the disk, and did it come to its first call of MPI?",
        )
    _write_tables(folder, processes, began.detail)
    trace = _description(began, processes, exit_code)
    trace.notes = [*notes, *_missing(files, processes), *_lost(processes)]
    trace.complete = trace.complete and not trace.notes
    path = folder / DESCRIPTION
    try:
        with replacing(path) as part:
            part.write_bytes(msgspec.json.format(msgspec.json.encode(trace), indent=2))
    except OSError as error:
        raise _not_written(path, error) from error
    return open_trace(folder)


def _started(folder: Path) -> StartedCommand:
    file = folder / STARTED
    try:
        return msgspec.json.decode(file.read_bytes(), type=StartedCommand)
    except OSError as error:
        raise InputError(f"{folder} holds no trace: it has no {STARTED}") from error
    except UNREADABLE as error:
        raise InputError(f"{file} is damaged: {error}", layout.REMEDY) from error


def _ended_in_init(folder: Path) -> str:
    """Say how many processes ended within MPI_Init, where their files begin; '' if none did."""
    number = sum(1 for _ in folder.glob("*.json"))
    if number == 0:
        return ""
    processes = "a process" if number == 1 else f"{number} processes"
    return f"{processes} called MPI_Init and ended before it returned"


def _of_one_world(files: Iterable[ProcessFile]) -> tuple[list[ProcessFile], list[str]]:
    """Return the processes of the first MPI program that began, and a note on further ones."""
    programs = worlds(files)
    if len(programs) < 2:
        return next(iter(programs), []), []
    text = (
        f"the command started {len(programs)} programs of MPI; this is the first one, on "
        f"{programs[0][0].size} ranks: trace the others one by one"
    )
    return programs[0], [text]


def _write_tables(folder: Path, processes: list[Process], detail: str) -> None:
    members = Members([process.file for process in processes])
    sites = CallSites((process.file, process.threads) for process in processes)
    shift = max(thread.shift for process in processes for thread in process.threads)
    tables = {
        "calls": pl.concat([process.calls(members) for process in processes]),
        "bins": pl.concat([process.bins(shift) for process in processes]),
        "communicators": members.table(),
        "sites": sites.table(Names()),
        "call_sites": pl.concat([process.call_sites(sites) for process in processes]),
    }
    if detail == "timeline":
        tables["timeline"] = pl.concat([process.timeline(members, sites) for process in processes])
        tables["off_processor"] = pl.concat([process.off_processor() for process in processes])
    for name, table in tables.items():
        path = folder / f"{name}.parquet"
        try:
            with replacing(path) as part:
                parquet.write(table, part, {"nhalf_trace": str(VERSION)})
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _not_written(path, error) from error


def _not_written(path: Path, error: Exception) -> MissingError:
    cause = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return MissingError(
        f"{path} cannot be written: {cause}",
        f"make room, then: nhalf trace --collect {path.parent}",
    )


def _description(began: StartedCommand, processes: list[Process], exit_code: int | None) -> Trace:
    ranks = [
        Rank(
            rank=process.file.rank,
            host=process.host,
            pid=process.file.pid,
            start_s=process.start_s,
            end_s=process.end_s,
            finished=process.file.finished,
            ready_s=process.ready_s(began.begin_ns),
            processors=process.file.processors if process.file.virtual is None else (),
            threads_running=process.threads_running(),
            **process.off_processor_s(),
        )
        for process in processes
    ]
    return Trace(
        command=began.command,
        library=processes[0].file.library.split("\n")[0] or began.library,
        ranks=ranks,
        start_s=began.begin_ns * 1e-9,
        end_s=began.begin_ns * 1e-9 + max(rank.end_s for rank in ranks),
        detail=began.detail,
        complete=all(rank.finished for rank in ranks),
        exit_code=exit_code,
        virtual=processes[0].file.virtual,
        mpi_t=next((process.file.mpi_t for process in processes if process.file.mpi_t), None),
    )


def _missing(files: list[ProcessFile], processes: list[Process]) -> list[str]:
    """Describe ranks that wrote nothing or did not reach their end."""
    known_ranks = {process.file.rank for process in processes}
    absent = sorted(set(range(files[0].size)) - known_ranks)
    unfinished = sorted(process.file.rank for process in processes if not process.file.finished)
    texts = []
    if absent:
        texts.append(f"nothing is known of rank{listed(absent)}")
    if unfinished:
        texts.append(f"MPI_Finalize was not reached by rank{listed(unfinished)}")
    return texts


def listed(ranks: Sequence[int]) -> str:
    """What follows 'rank': ' 3', or 's 0, 1' and so on."""
    shown = ", ".join(map(str, ranks[:8])) + (", …" if len(ranks) > 8 else "")
    return f" {shown}" if len(ranks) == 1 else f"s {shown}"


def _lost(processes: list[Process]) -> list[str]:
    lost = 0
    for process in processes:
        lost |= process.lost
    lacks = {
        process.file.rank: process.timeline_lacks for process in processes if process.timeline_lacks
    }
    texts = [
        f"the timeline of rank {rank} lacks {number} records: its file is cut off"
        for rank, number in lacks.items()
    ]
    unkept = {name for process in processes for name in process.file.lost}
    texts += [text for flag, text in LOST.items() if lost & flag]
    texts += [text for name, text in NOT_KEPT.items() if name in unkept]
    other_libraries = {process.file.others for process in processes if process.file.others}
    return texts + [
        f"the program has loaded several MPI libraries: calls of {library} are not counted"
        for library in sorted(other_libraries)
    ]
