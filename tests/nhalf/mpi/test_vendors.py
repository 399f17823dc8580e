"""The eager limits that the libraries of this machine name."""

from __future__ import annotations

import re

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.vendors import eager_limits
from nhalf.mpi.vendors.mpich import CELL, COPIES, COPY
from tests.patience import patience_s

FOUND = {library.vendor: library for library in newest(libraries())}


def library_of(vendor: str) -> Library:
    if vendor not in FOUND:
        pytest.skip(f"{vendor} is not installed: nhalf mpi install {vendor}")
    return FOUND[vendor]


def test_mpich_names_the_cell_and_the_threshold_of_its_copy() -> None:
    library = library_of("mpich")
    if int(library.version.partition(".")[0]) < 5:
        pytest.skip(f"{library.name} has other variables")
    limits = eager_limits([library])[library.name]
    assert limits[CELL] == 8192
    assert set(limits) <= {CELL, COPY}


def test_mpich_names_what_the_environment_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    library = library_of("mpich")
    monkeypatch.setenv(CELL, "16384")
    monkeypatch.setenv(COPIES, "0")
    assert eager_limits([library])[library.name] == {CELL: 16384}


def test_open_mpi_names_the_limit_of_shared_memory() -> None:
    library = library_of("openmpi")
    limits = eager_limits([library])[library.name]
    assert len(limits.keys() & {"btl_sm_eager_limit", "btl_vader_eager_limit"}) == 1


def test_intel_mpi_names_none() -> None:
    """If a later version does, its vendor should read that."""
    library = library_of("intel")
    command = library.prefix / "bin/impi_info"
    outcome = run([str(command), "-e"], patience_s(20), library.environment)
    assert outcome.succeeded, outcome.reason
    shared = re.findall(
        r"(I_MPI_SHM_(?:EAGER_THRESHOLD|CELL_FWD_SIZE)) *\| (.*?) *\|", outcome.stdout
    )
    assert len(shared) == 2
    assert all(value in ("not defined", "-1") for _, value in shared)
    assert eager_limits([library]) == {}
