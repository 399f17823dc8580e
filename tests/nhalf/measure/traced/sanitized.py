"""Preloaded libraries built with a sanitizer, and how unchanged programs are started with them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.processes import run
from nhalf.measure.traced.start import TRACE
from nhalf.mpi import Library
from nhalf.mpi.preload import FLAGS
from nhalf.mpi.probe import compiler_variables
from tests.nhalf.measure.traced.programs import maker_of
from tests.patience import patience_s

COMPILING_S = 300.0
TRACER, COLLECTIVES = TRACE.source, "interposer/coll.cpp"
UNOPTIMISED = ("-O0", "-g1", "-fno-omit-frame-pointer")
"""Compiled in half the time of -O1; sanitizers see every access either way."""


@dataclass(frozen=True)
class Sanitizer:
    """A sanitizer of GCC: its flag, its library, and its settings."""

    name: str
    runtime: str
    variables: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


# Programs and MPI libraries are not instrumented: what those leak, and how their threads meet, is
# not looked at. Leaks are not told apart from what a library keeps until the process ends, and
# all preloaded libraries export their interface by one name.
ADDRESS = Sanitizer(
    "address",
    "libasan.so",
    ("ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:exitcode=66",),
)
THREAD = Sanitizer(
    "thread",
    "libtsan.so",
    ("TSAN_OPTIONS=exitcode=66",),
)
SANITIZERS = (ADDRESS, THREAD)
# UCX's hooks for memory run in threads that the thread sanitizer does not know yet, and PMIx wants
# memory at addresses that are the sanitizer's.
BESIDE_SANITIZERS = ("UCX_MEM_EVENTS=no", "PMIX_MCA_gds=hash")


def sanitized(
    library: Library, compiler: Path, source: str | Path, sanitizer: Sanitizer, folder: Path
) -> Path:
    """A preloaded library for programs of this compiler, built once in a folder; skips if GCC
    lacks the sanitizer."""
    include = native_files.native_folder() / "include"
    stem = Path(source).stem
    path = folder / f"libnhalf_{stem}-{library.name}-{compiler.name}-{sanitizer.name}.so"
    if path.is_file():
        return path
    maker = maker_of(compiler, library)
    flags = [flag for flag in FLAGS if flag not in ("-O3", "-static-libstdc++", "-static-libgcc")]
    command = [str(compiler), *flags, *UNOPTIMISED, f"-fsanitize={sanitizer.name}", "-Wno-tsan"]
    sources = [source, *(TRACE.further if source == TRACE.source else ())]
    command += [f"-I{include}", *(str(include / name) for name in sources), "-o", str(path)]
    variables = {**maker.environment, **compiler_variables(maker)}
    outcome = run(command, patience_s(COMPILING_S), variables)
    if f"cannot find -l{sanitizer.runtime[3:7]}" in outcome.stderr:
        pytest.skip(f"the compiler has no {sanitizer.runtime}")
    assert outcome.succeeded, outcome.stderr
    return path


def words_for(sanitizer: Sanitizer, *loaded: Path) -> list[str]:
    """What `env` is told so that a program runs with sanitized libraries loaded before it."""
    located = run(["c++", f"-print-file-name={sanitizer.runtime}"], patience_s(COMPILING_S))
    runtime = Path(located.stdout.strip()).resolve()
    if not runtime.is_file():
        pytest.skip(f"there is no {sanitizer.runtime}")
    preloaded = ":".join(map(str, [runtime, *loaded]))
    return [*BESIDE_SANITIZERS, *sanitizer.variables, f"LD_PRELOAD={preloaded}"]
