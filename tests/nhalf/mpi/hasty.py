"""A library to preload whose allreduce is fast and wrong where the environment says so."""

from __future__ import annotations

from pathlib import Path

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.probe import compiler_variables
from tests.patience import patience_s

SOURCE = Path(__file__).parents[2] / "native/preloaded/hasty.cpp"


def hasty(library: Library, folder: Path) -> Path:
    """The library that hasty.cpp is for the handles that this library has with nhalf."""
    assert library.compiler
    standard = library.compiler.with_name(f"{library.compiler.name}_abi")
    compiler = standard if library.abi and standard.is_file() else library.compiler
    path = folder / "libhasty.so"
    words = [str(compiler), "-std=c++20", "-shared", "-fPIC", str(SOURCE), "-o", str(path)]
    variables = {**library.environment, **compiler_variables(library)}
    outcome = run(words, patience_s(60), variables)
    assert outcome.succeeded, outcome.stderr
    return path
