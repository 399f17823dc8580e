"""Programs compiled on this machine on first use and cached."""

from __future__ import annotations

import fcntl
import hashlib
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.base.folders import CACHE_REMEDY, cache_folder, make_folder, need_own
from nhalf.base.processes import run

COMPILE_TIMEOUT_S = 600.0
POLL_S = 0.1

COMPILERS = ("c++", "g++", "clang++")
COMPILER_REMEDY = "install a C++ compiler, such as g++ 10 or newer"


_listeners: list[Callable[[str], None]] = []
"""Listeners for progress messages of compilation; the last one is called."""

_failures: dict[Path, MissingError] = {}
"""Failures of programs compiled ahead, until somebody needs the program."""


_left_out: list[dict[str, CompiledProgram]] = []
"""Programs by title that would be compiled, for those who only want to know; the last counts."""


@dataclass(frozen=True)
class CompiledProgram:
    """A program and its inputs.

    `title` is its name in messages, `name` the output file, `folder` its place
    below the cache folder, to which a digest is appended: of `parts`, the installed headers and
    sources, and the command. `command` is the compiler command without its output, `variables` are
    added to the environment; those that are `neutral` do not change what is compiled. `why_not`
    returns why a compiled file is unusable, '' if it is usable. `further` are sources that are
    compiled beside the first and linked with it, each with flags of its own.
    """

    title: str
    name: str
    folder: str
    source: str
    command: Sequence[str]
    why_not: Callable[[Path], str]
    variables: Mapping[str, str] = field(default_factory=dict)
    neutral: Collection[str] = ()
    parts: Sequence[str] = ()
    remedy: str = ""
    further: Mapping[str, Sequence[str]] = field(default_factory=dict)


@contextmanager
def reporting_compilation(report: Callable[[str], None]) -> Iterator[None]:
    """In this context, `report` gets one line before a program is compiled and one after.

    It may be called by several threads.
    """
    _listeners.append(report)
    try:
        yield
    finally:
        _listeners.pop()


@contextmanager
def without_compiling() -> Iterator[Mapping[str, CompiledProgram]]:
    """In this context nothing is compiled; yields by title what would be.

    Such a program is a path at which there is nothing yet.
    """
    programs_by_title: dict[str, CompiledProgram] = {}
    _left_out.append(programs_by_title)
    try:
        yield programs_by_title
    finally:
        _left_out.pop()


def _report(text: str) -> None:
    if _listeners:
        _listeners[-1](text)


def is_compiled(program: CompiledProgram) -> bool:
    """Whether the program is in the cache.

    Raises MissingError if its source is not installed, or if somebody else could have written to
    the cache.
    """
    return _target(program).is_file()


def compiled(program: CompiledProgram) -> Path:
    """The program, from the cache if possible.

    Concurrent processes compile it only once. Raises MissingError if its source is not installed,
    if it does not compile (with `remedy` and the path of the log), if it cannot be stored, or if
    somebody else could have written to the cache.
    """
    if _left_out and not is_compiled(program):
        _left_out[-1][program.title] = program
        return _target(program)
    failure = _failures.pop(_target(program), None)
    if failure is not None:
        raise failure
    return _compiled(program, ", once; this can take minutes", threading.Event())


def compile_ahead(programs: Iterable[CompiledProgram], at_once: int) -> None:
    """Compile programs into the cache, `at_once` at a time; each is kept as soon as it is done.

    A program that does not compile is reported, and raises where it is needed next. An interruption
    stops all compilers.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    distinct = list({program.title: program for program in programs}.values())
    if not distinct:
        return
    cancelled = threading.Event()
    with ThreadPoolExecutor(at_once) as executor:
        try:
            attempts = [
                executor.submit(_try, program, f" ({number} of {len(distinct)})", cancelled)
                for number, program in enumerate(distinct, 1)
            ]
            # A signal need not end a wait, if another thread receives it.
            while wait(attempts, POLL_S).not_done:
                pass
            for attempt in attempts:
                attempt.result()
        finally:
            cancelled.set()
            executor.shutdown(cancel_futures=True)


def _try(program: CompiledProgram, note: str, cancelled: threading.Event) -> None:
    """Compile a program, or report why it does not compile, and keep that for who needs it."""
    try:
        _compiled(program, note, cancelled)
    except MissingError as error:
        if not cancelled.is_set():
            _report(str(error))
        with suppress(MissingError):
            _failures[_target(program)] = error


def _compiled(program: CompiledProgram, note: str, cancelled: threading.Event) -> Path:
    """The program, from the cache or compiled; `note` is added to the message of the start."""
    target = _target(program)
    if target.is_file():
        return target
    folder = target.parent
    include = native_files.include_folder()
    try:
        make_folder(folder)
        with _locked(folder / "lock"):
            if not target.is_file():
                _report(f"compiling {program.title}{note}")
                began_s = time.monotonic()
                _compile(program, include, target, cancelled)
                _report(f"compiled {program.title} in {time.monotonic() - began_s:.0f} s")
    except OSError as error:
        raise MissingError(
            f"{program.title} cannot be kept in {folder}: {error.strerror or error}", CACHE_REMEDY
        ) from error
    return target


def _target(program: CompiledProgram) -> Path:
    """The program's path in the cache, whether or not it exists yet."""
    include = native_files.include_folder()
    source = include / program.source
    if not source.is_file():
        raise MissingError(f"the source of {program.title} is not at {source}", native_files.REMEDY)
    target = cache_folder() / f"{program.folder}-{_digest(program, include)}" / program.name
    need_own(target)
    return target


def _compile(
    program: CompiledProgram, include: Path, target: Path, cancelled: threading.Event
) -> None:
    """Compile next to the target and rename, so that the target is complete or absent."""
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        output = Path(temporary, target.name)
        log = target.parent / "compile.log"
        log.unlink(missing_ok=True)
        # Linkers want libraries after the objects that use them.
        libraries = [word for word in program.command if word.startswith("-l")]
        command = [word for word in program.command if word not in libraries]
        command += ["-I", str(include)]
        source = str(include / program.source)
        units = _units(program, command, include, output.parent)
        reason = _run_at_once(program, units.values(), log, cancelled) if units else ""
        whole = [*command, *(units or [source]), *libraries, "-o", str(output)]
        reason = reason or _run_at_once(program, [whole], log, cancelled) or program.why_not(output)
        if reason:
            remedy = "; ".join(filter(None, [program.remedy, f"the log is in {log}"]))
            raise MissingError(f"{program.title} does not compile: {reason}", remedy)
        output.replace(target)


def _units(
    program: CompiledProgram, command: list[str], include: Path, folder: Path
) -> dict[str, list[str]]:
    """The command that compiles each object file of a program; none if it has one source."""
    if not program.further:
        return {}
    flags_by_source = {program.source: (), **program.further}
    object_files = [str(folder / f"{Path(source).stem}.o") for source in flags_by_source]
    return {
        object_file: [*command, *flags, "-c", str(include / source), "-o", object_file]
        for object_file, (source, flags) in zip(object_files, flags_by_source.items(), strict=True)
    }


def _run_at_once(
    program: CompiledProgram, commands: Collection[list[str]], log: Path, cancelled: threading.Event
) -> str:
    """Run compilers side by side, and add what they say to the log; why one failed, or ''."""
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(len(commands)) as executor:
        attempts = [
            executor.submit(run, command, COMPILE_TIMEOUT_S, program.variables, cancelled=cancelled)
            for command in commands
        ]
        try:
            while wait(attempts, POLL_S).not_done:
                pass
        except BaseException:
            cancelled.set()
            raise
    outcomes = [attempt.result() for attempt in attempts]
    with log.open("a", encoding="utf-8") as file:
        for command, outcome in zip(commands, outcomes, strict=True):
            file.write(f"{' '.join(command)}\n\n{outcome.stdout}{outcome.stderr}\n")
    failed = next((outcome for outcome in outcomes if not outcome.succeeded), None)
    return "" if failed is None else _first_error(failed.stderr) or failed.reason


def _first_error(text: str) -> str:
    """The first error line of a compiler's output."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error_lines = [line for line in lines if "error" in line.lower() or "not found" in line]
    return (error_lines or lines or [""])[0][:300]


def _digest(program: CompiledProgram, include: Path) -> str:
    """A short digest of everything the compiled program depends on."""
    digest = hashlib.sha256()
    for path in sorted(path for path in include.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(include)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    settings = [
        f"{name}={value}"
        for name, value in sorted(program.variables.items())
        if name not in program.neutral
    ]
    further = [f"{name}={' '.join(flags)}" for name, flags in program.further.items()]
    for part in (*program.parts, *program.command, *settings, *further):
        digest.update(f"{part}\0".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the system releases the lock when its holder dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
