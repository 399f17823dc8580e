"""A program of kernels in MPI, and a library that counts beneath it what they send."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.measure.probe.subject import Subject, library_subject, transport_file
from nhalf.mpi.discover import libraries
from nhalf.mpi.probe import compiler_variables
from tests.patience import patience_s

SOURCE = Path(__file__).parents[3] / "native/apps/counter.cpp"


@pytest.fixture(scope="module")
def subject() -> Subject:
    for library in libraries():
        if library.abi and (library.prefix / "bin/mpicxx_abi").is_file():
            try:
                return library_subject(library, transport_file("npb-mpi"))
            except NhalfError as error:
                pytest.skip(str(error))
    pytest.skip("no MPI library of the standard ABI here: nhalf mpi install mpich")


@pytest.fixture(scope="module")
def counter(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert subject.library is not None
    library = subject.library
    made = tmp_path_factory.mktemp("counter") / "counter.so"
    compiler = str(library.prefix / "bin/mpicxx_abi")
    command = [compiler, "-std=c++20", "-shared", "-fPIC", str(SOURCE), "-o", str(made)]
    variables = {**library.environment, **compiler_variables(library)}
    outcome = run(command, patience_s(120), variables)
    assert outcome.succeeded, outcome.stderr
    return made
