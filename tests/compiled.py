"""Programs that tests compile, kept for the next tests as long as nothing is different."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.probe import compiler_variables
from tests.patience import patience_s

KEPT = Path(__file__).resolve().parent.parent / "build" / "test-programs"
TIMEOUT_S = 120.0


def compiled(words: Sequence[str], source: Path, program: Path, maker: Library) -> Path:
    """A program of one source, compiled by `maker` with these words, once for all workers."""
    if program.is_file():
        return program
    variables = {**maker.environment, **compiler_variables(maker)}
    kept = KEPT / digest(words, source, maker, variables)
    if not kept.is_file():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            made = Path(folder) / program.name
            outcome = run([*words, "-o", str(made)], patience_s(TIMEOUT_S), variables)
            assert outcome.succeeded, outcome.stderr
            made.replace(kept)
    shutil.copy2(kept, program)
    return program


def digest(words: Sequence[str], source: Path, maker: Library, variables: Mapping[str, str]) -> str:
    """Another one for other words, sources beside it, variables, compilers or headers of MPI."""
    told = repr((words, sorted(variables.items()), os.environ.get("CXXFLAGS")))
    texts = [path.read_bytes() for path in [*sorted(source.parent.glob("*.hpp")), source]]
    tools = [Path(words[0]), maker.prefix / "include" / "mpi.h"]
    tools += [Path(place) for name in ("c++", "g++", "gfortran") if (place := shutil.which(name))]
    files = [(str(path), path.stat().st_mtime_ns) for path in tools if path.is_file()]
    return hashlib.sha256(b"\0".join([told.encode(), repr(files).encode(), *texts])).hexdigest()
