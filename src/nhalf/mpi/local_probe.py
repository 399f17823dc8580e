"""Programs that start their own ranks: those that came with nhalf, or compiled once and kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import COMPILER_REMEDY, COMPILERS, CompiledProgram, compiled, is_compiled
from nhalf.base.describe import why_not_described
from nhalf.base.errors import MissingError
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.probe import FLAGS, SOURCE
from nhalf.mpi.transport_files import TransportFile

FLAGS_BY_NEED: dict[str, tuple[str, ...]] = {"": (), "Threads": (), "OpenMP": ("-fopenmp",)}
"""What a program that can be compiled here may need, with the compiler's flags for it."""


def local_executable(file: TransportFile) -> Path:
    """The program of a transport, or of an application, that starts its own ranks.

    Raises MissingError if it did not come with nhalf and cannot be compiled.
    """
    if file.needs not in FLAGS_BY_NEED or came_with_nhalf(file):
        return native_files.executable(file.executable)
    return compiled(_program(file))


def came_with_nhalf(file: TransportFile) -> bool:
    """Whether the program of a transport, or of an application, was built with nhalf."""
    for suffix in ("", "-abi"):
        with suppress(MissingError):
            native_files.executable(f"{file.executable}{suffix}")
            return True
    return False


def missing_programs(files: Iterable[TransportFile]) -> Iterator[CompiledProgram]:
    """The programs that have to be compiled before these start their ranks."""
    for file in files:
        if file.needs not in FLAGS_BY_NEED or came_with_nhalf(file):
            continue
        with suppress(MissingError):
            program = _program(file)
            if not is_compiled(program):
                yield program


def _program(file: TransportFile) -> CompiledProgram:
    """How the program is compiled. Raises MissingError without a compiler."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise MissingError(
            f"{file.title} has to be compiled, and there is no C++ compiler", COMPILER_REMEDY
        )
    own = file.flags if file.source else (f'-DNHALF_TRANSPORT_HEADER="{file.header}"',)
    flags = [*FLAGS, *os.environ.get("CXXFLAGS", "").split(), *FLAGS_BY_NEED[file.needs], *own]
    return CompiledProgram(
        title=file.title,
        name=file.executable,
        folder="probes/local",
        source=file.source or SOURCE,
        command=[compiler, *flags, "-ldl"],
        why_not=lambda path: why_not_described([str(path)]),
        parts=stamps_of([Path(compiler).resolve()]),
    )
