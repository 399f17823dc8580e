"""Libraries to preload into unmodified programs, such as the one that routes collectives.

The file of a program tells which MPI library it needs, and thus which handles it has. The runtime
of AddressSanitizer refuses to run behind a preloaded library. Those of nhalf define nothing that it
has to define first, and which programs a launcher or a script starts is not known before, so it is
told not to look.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import CompiledProgram, compiled
from nhalf.base.errors import InputError, MissingError
from nhalf.mpi import Library
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.probe import compiler_here, compiler_variables, flags_of_the_user, of_running
from nhalf.mpi.vendors import vendor_of

ABI_LIBRARY = "libnhalf_coll.so"
SOURCE = "interposer/coll.cpp"
TABLE = "NHALF_COLL_TABLE"
VERBOSE = "NHALF_COLL_VERBOSE"
KEEP = "NHALF_COLL_KEEP"
COUNTERS = "NHALF_COLL_COUNTERS"
FLAGS = (
    *("-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared"),
    *("-fvisibility=hidden", "-ftls-model=initial-exec", "-static-libstdc++", "-static-libgcc"),
    *("-Wl,--as-needed", "-Wl,-z,lazy"),
)
_SEPARATORS = " \t\n:"


@dataclass(frozen=True)
class Preloaded:
    """A library to preload: built for the standard ABI, else compiled once, with FLAGS first."""

    title: str
    name: str
    folder: str
    source: str
    flags: tuple[str, ...] = ()
    further: Mapping[str, Sequence[str]] = field(default_factory=dict)


COLLECTIVES = Preloaded("library of collectives", ABI_LIBRARY, "collectives", SOURCE)


@dataclass(frozen=True)
class Preload:
    """A library for a program, and the variables that load it."""

    path: Path
    variables: dict[str, str]

    @property
    def words(self) -> list[str]:
        """The variables as arguments of `env`."""
        return [f"{name}={value}" for name, value in self.variables.items()]

    def counting_into(self, folder: Path) -> Preload:
        """With the variable by which ranks count their calls in a folder, for who watches them."""
        return replace(self, variables={**self.variables, COUNTERS: str(folder.resolve())})


def preload(
    library: Library,
    program: Path | None = None,
    table: Path | None = None,
    installed: Sequence[Library] = (),
    keep: Path | None = None,
) -> Preload:
    """The preloading that makes a program of this MPI library follow a decision table, or learn.

    What it learns is kept in the file `keep`, from which later programs start.

    A program that was built for the MPI standard ABI has different handles from one built with the
    library's own header: `program` decides. Without it both are served if both libraries are
    available, and programs of the standard ABI otherwise; a library that does not serve a program
    has no effect. Raises InputError for a program that cannot be read or is no program of this
    library, a missing table, a table and a file to keep, a file that cannot be one, or a place that
    LD_PRELOAD cannot name, MissingError if the library for it is not available.
    """
    if table is not None and not table.is_file():
        raise InputError(f"there is no decision table {table}", "give the file of one")
    if keep is not None:
        _check_kept(keep, table)
    is_standard = library.abi if program is None else _is_standard(library, program)
    paths = [(abi_library if is_standard else own_library)(library, installed)]
    if is_standard and program is None:
        with suppress(MissingError):
            paths.append(own_library(library, installed))
    for path in paths:
        if any(mark in str(path) for mark in _SEPARATORS):
            came = path.is_relative_to(native_files.native_folder())
            variable = native_files.VARIABLE if came else "XDG_CACHE_HOME"
            raise InputError(
                f"LD_PRELOAD takes no file in a folder with blanks or colons: {path}",
                f"set {variable} to another folder",
            )
    before = os.environ.get("LD_PRELOAD", "")
    variables = {"LD_PRELOAD": ":".join(filter(None, [*map(str, paths), before]))}
    if program is not None and has_runtime(content_of(program)):
        variables |= sanitizer_variables(os.environ)
    if table is not None:
        variables[TABLE] = str(table.resolve())
    if keep is not None:
        variables[KEEP] = str(keep.resolve())
    return Preload(paths[0], variables)


def _check_kept(keep: Path, table: Path | None) -> None:
    if table is not None:
        raise InputError("with a decision table nothing is learned", "leave out --table or --keep")
    if not os.path.isdir(os.path.dirname(os.path.abspath(keep))):
        raise InputError(f"there is no folder for {keep}", "make it, or name another file")
    if os.path.lexists(keep) and not os.path.isfile(keep):
        raise InputError(f"{keep} is not a plain file", "name another file")


def own_library(
    library: Library, installed: Sequence[Library] = (), preloaded: Preloaded = COLLECTIVES
) -> Path:
    """The library compiled with an MPI library's own header, once; from the cache afterwards.

    Without its own compiler, that of an `installed` library with equal handles is used.
    Raises MissingError if there is none.
    """
    return compiled(own_program(library, installed, preloaded))


def own_program(
    library: Library, installed: Sequence[Library] = (), preloaded: Preloaded = COLLECTIVES
) -> CompiledProgram:
    """How `own_library` is compiled. Raises MissingError if there is no compiler."""
    maker = library
    if library.compiler is None:
        compatible_vendor = vendor_of(library).handles_of
        maker = next(
            (
                candidate
                for candidate in installed
                if candidate.vendor == compatible_vendor and candidate.compiler
            ),
            library,
        )
    if maker.compiler is None:
        raise MissingError(
            f"programs built with the own header of {library.name} need a library compiled with it,"
            " and there is no mpicxx",
            "install its development files, or build the program for the MPI standard ABI",
        )
    variables = compiler_variables(maker)
    wrapped = shutil.which(next(iter(variables.values()), "c++").split()[0])
    tools = [maker.compiler.resolve(), Path(wrapped).resolve() if wrapped else Path()]
    return CompiledProgram(
        title=f"the {preloaded.title} for {library.name}",
        name=preloaded.name,
        folder=f"{preloaded.folder}/{maker.vendor}-{maker.version}",
        source=preloaded.source,
        command=[str(maker.compiler), *FLAGS, *preloaded.flags, *flags_of_the_user()],
        further=preloaded.further,
        why_not=lambda path: "" if path.is_file() else "there is no file",
        variables={**maker.environment, **variables},
        neutral=of_running(maker.environment),
        parts=[maker.version, str(maker.prefix), *stamps_of(tools)],
    )


def abi_library(
    library: Library, installed: Sequence[Library] = (), preloaded: Preloaded = COLLECTIVES
) -> Path:
    """The library for programs of the MPI standard ABI: as it came with nhalf, else compiled once.

    That takes the standard's header, which one of the MPI libraries has. Raises MissingError if
    there is none, or no compiler.
    """
    path = native_files.native_folder() / "lib" / preloaded.name
    if path.is_file():
        return path
    headers = [maker.prefix / "include/mpi_abi.h" for maker in (library, *installed)]
    header = next((header for header in headers if header.is_file()), None)
    if header is None:
        raise MissingError(
            f"{preloaded.name} was not built: it is not at {path}", native_files.REMEDY
        )
    compiler = compiler_here(f"the {preloaded.title} has to be compiled")
    return compiled(
        CompiledProgram(
            title=f"the {preloaded.title} for the MPI standard ABI",
            name=preloaded.name,
            folder=f"{preloaded.folder}/abi",
            source=preloaded.source,
            command=[
                *(compiler, *FLAGS, "-DMPI_ABI", f"-I{header.parent}"),
                *(*preloaded.flags, *flags_of_the_user()),
            ],
            further=preloaded.further,
            why_not=lambda path: "" if path.is_file() else "there is no file",
            parts=stamps_of([Path(compiler).resolve(), header]),
        )
    )


def _is_standard(library: Library, program: Path) -> bool:
    """Whether a program needs the standard ABI, by the libraries that its file names."""
    try:
        content = program.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {program}: {error.strerror or error}", "give the program's file"
        ) from error
    if ABI in handles_in(content):
        if library.abi:
            return True
        raise InputError(
            f"{program} is built for the MPI standard ABI, which {library.name} does not have",
            "choose another library, see: nhalf mpi list",
        )
    if vendor_of(library).linked_as.encode() in content:
        return False
    raise InputError(
        f"{program} does not name a library of {library.name}",
        "name the executable or extension module that is linked with MPI",
    )


ELF = b"\x7fELF"
ABI, CLASSIC = b"libmpi_abi.so", b"libmpi.so"
"""The library of the MPI standard ABI, and one with handles of its own."""
FORTRAN = {
    b"libmpifort_abi.so": ABI,
    **dict.fromkeys((b"libmpifort.so", b"libmpichfort.so", b"libmpi_mpifh.so"), CLASSIC),
}
"""Programs in Fortran may name the library for that language alone."""


def program_named(word: str) -> Path:
    """The file that a word of a command names, whether or not it exists."""
    return Path(word) if "/" in word else Path(shutil.which(word) or "")


def content_of(path: Path) -> bytes:
    """The content of a program or shared library; empty if it is none or cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            magic = file.read(len(ELF))
            return magic + file.read() if magic == ELF else b""
    except OSError:
        return b""


def handles_in(content: bytes) -> set[bytes]:
    """ABI or CLASSIC, by the libraries that a program names; empty if it names none of MPI."""
    if ABI in content:
        return {ABI}
    if CLASSIC in content:
        return {CLASSIC}
    return {kind for name, kind in FORTRAN.items() if name in content}


VARIABLE = "ASAN_OPTIONS"
RUNTIMES = (b"libasan.so", b"libclang_rt.asan")
_BEHIND = "verify_asan_link_order=0"


def sanitizer_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with which sanitized programs take preloaded libraries.

    What the environment says already comes last and counts.
    """
    return {VARIABLE: ":".join(filter(None, [_BEHIND, environment.get(VARIABLE, "")]))}


def has_runtime(content: bytes) -> bool:
    """Whether a program's file names a runtime that would refuse."""
    return any(name in content for name in RUNTIMES)


FIRST_LINE = "# nhalf lessons 1"
NATIVE = "native"
LearnedCalls = tuple[int, str, int]
"""Ranks of the communicator, operation, and the smallest size of the class, bytes."""


def kept_lessons(path: Path, version: str) -> Mapping[LearnedCalls, float]:
    """The time of the way that was taken last, as a share of that of the library's own way; 1 where
    that is the library's own.

    `version` is the beginning of what an MPI library says of itself. Of a file that cannot be read,
    or is damaged, nothing is known.
    """
    try:
        first, *lines = path.read_text("ascii").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return {}
    word = re.sub(r"[^!-~]", "-", re.split(r"[\n,]", version)[0])
    share_by_calls: dict[LearnedCalls, float] = {}
    for line in lines if first == FIRST_LINE else []:
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if len(words) != 6 or not all(words[at].isdecimal() for at in (1, 3, 5)):
            return {}
        library, ranks, operation, from_bytes, way, percent = words
        if library.rpartition("-")[0] == word:
            share = 1.0 if way == NATIVE else min(1.0, int(percent) / 100)
            share_by_calls[int(ranks), operation, int(from_bytes)] = share
    return share_by_calls
