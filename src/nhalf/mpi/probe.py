# SPDX-License-Identifier: Apache-2.0
"""The probe that runs on a library: the standard-ABI one as it is, or compiled once and kept."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nhalf import native_files
from nhalf.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.folders import cache_folder
from nhalf.mpi.identify import stamps_of
from nhalf.mpi.processes import run

ABI_PROBE = "probe-mpi-abi"
SOURCE = "core/probe.cpp"
FLAGS = (
    "-std=c++20",
    "-O3",
    "-DNDEBUG",
    '-DNHALF_TRANSPORT_HEADER="transports/mpi.hpp"',
)
DESCRIBE_TIMEOUT_S = 20.0
COMPILE_TIMEOUT_S = 300.0

_WRAPPED = {"openmpi": "OMPI_CXX", "mpich": "MPICH_CXX", "intel": "I_MPI_CXX"}
"""The variable that tells a wrapper which compiler to call."""


def probe_command(library: Library) -> list[str]:
    """The command, without options, of the probe that runs on a library.

    Raises MissingError when there is none and none can be made.
    """
    return [str(probe_executable(library))]


def probe_executable(library: Library) -> Path:
    """The standard-ABI probe where it works on the library, else one compiled for it.

    Compiling happens once per library, compiler and content of the headers. Raises MissingError
    when neither can be had.
    """
    why = f"{library.name} does not load programs built for the MPI standard ABI"
    if library.abi:
        path, why = _abi_probe(library)
        if path is not None:
            return path
    if library.compiler is None:
        raise MissingError(
            f"no probe runs on {library.name}: {why}",
            "it has no C++ compiler wrapper (mpicxx) either; install its development files",
        )
    return _compiled(library, library.compiler)


def _abi_probe(library: Library) -> tuple[Path | None, str]:
    """The standard-ABI probe if it works here, and why not otherwise."""
    try:
        path = native_files.executable(ABI_PROBE)
    except MissingError as error:
        return None, error.message
    variables = tuple(sorted(library.environment.items()))
    reason = _why_not(path, variables)
    return (None, reason) if reason else (path, "")


@functools.cache
def _why_not(path: Path, variables: tuple[tuple[str, str], ...]) -> str:
    """Why a probe does not describe itself when started with these variables; '' when it does."""
    outcome = run([str(path), "--describe"], DESCRIBE_TIMEOUT_S, dict(variables))
    if not outcome.succeeded:
        return f"{path.name} --describe: {outcome.reason}"
    for line in outcome.stdout.splitlines():
        try:
            if "patterns" in json.loads(line):
                return ""
        except (ValueError, TypeError):
            continue
    return f"{path.name} --describe does not answer with a description"


def _compiled(library: Library, compiler: Path) -> Path:
    """The probe compiled by a library's own wrapper; from the cache where it is there."""
    include = native_files.include_folder()
    source = include / SOURCE
    if not source.is_file():
        raise MissingError(f"the source of the probe is not at {source}", native_files.REMEDY)
    variables = _compiler_variables(library)
    folder = cache_folder() / "probes" / _key(library, compiler, include, variables)
    target = folder / "probe-mpi"
    if target.is_file():
        return target
    command = [str(compiler), *FLAGS, "-I", str(include), str(source)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "lock"):
            if not target.is_file():
                _compile(library, command, variables, folder, target)
    except OSError as error:
        raise MissingError(
            f"the probe for {library.name} cannot be kept in {folder}: {error.strerror or error}",
            "make room or set XDG_CACHE_HOME to a folder that can be written",
        ) from error
    return target


def _compile(
    library: Library, command: list[str], variables: dict[str, str], folder: Path, target: Path
) -> None:
    """Compile beside the target and rename, so that the target is whole or absent."""
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        output = Path(temporary, target.name)
        command = [*command, "-o", str(output)]
        outcome = run(command, COMPILE_TIMEOUT_S, {**library.environment, **variables})
        log = folder / "compile.log"
        log.write_text(f"{' '.join(command)}\n\n{outcome.stdout}{outcome.stderr}", "utf-8")
        reason = _first_error(outcome.stderr) or outcome.reason if not outcome.succeeded else ""
        if not reason:
            reason = _why_not(output, tuple(sorted(library.environment.items())))
        if reason:
            raise MissingError(
                f"the probe for {library.name} does not compile: {reason}", f"the log is in {log}"
            )
        output.replace(target)


def _first_error(text: str) -> str:
    """The first line of a compiler's output that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "not found" in line]
    return (telling or lines or [""])[0][:300]


def _compiler_variables(library: Library) -> dict[str, str]:
    """What a wrapper needs to find a C++ compiler.

    Raises MissingError when there is no compiler on PATH.
    """
    variable = _WRAPPED.get(library.vendor, "")
    given = os.environ.get(variable, "")
    if given:
        return {variable: given}
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            # Wheels' wrappers call c++, which minimal machines have under another name only.
            return {} if name == "c++" or not variable else {variable: name}
    raise MissingError(
        f"{library.name} needs a probe compiled for it, and there is no C++ compiler",
        "install one, such as g++ 10 or newer",
    )


def _key(library: Library, compiler: Path, include: Path, variables: dict[str, str]) -> str:
    """What a compiled probe depends on, as the name of its folder."""
    digest = hashlib.sha256()
    for path in sorted(one for one in include.rglob("*") if one.is_file()):
        digest.update(f"{path.relative_to(include)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    wrapped = shutil.which(next(iter(variables.values()), "c++").split()[0])
    tools = [compiler.resolve(), Path(wrapped).resolve() if wrapped else Path()]
    settings = [f"{name}={value}" for name, value in sorted(variables.items())]
    for part in (library.version, library.prefix, *FLAGS, *settings, *stamps_of(tools)):
        digest.update(f"{part}\0".encode())
    return f"{library.vendor}-{library.version}-{digest.hexdigest()[:16]}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the system lets go of the lock when its holder dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
