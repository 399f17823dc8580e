"""MVAPICH: told from MPICH by the program that it has beside its mpiexec."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.mpi.discover import libraries
from nhalf.mpi.vendors import libraries_in, vendor_of
from nhalf.mpi.vendors.mvapich import Mvapich

HYDRA = "echo 'HYDRA build details:'; echo '    Version:                                 3.2.1'"

Script = Callable[[Path, str], Path]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("MVAPICH2 2.3.7 Wed March 02 22:00:00 EST 2022 ch3:mrail\n", "2.3.7"),
        ("MVAPICH2 Version:       2.3.7\nMVAPICH2 Device:        ch3:mrail\n", "2.3.7"),
        ("MVAPICH Version:  3.3b2\nMVAPICH Release date: Mon Apr  9 17:58:42 CDT 2018\n", "3.3b2"),
        ("HYDRA build details:\n  Configure options: --with-mvapich\n", ""),
    ],
)
def test_it_says_what_it_is(text: str, version: str) -> None:
    assert Mvapich().version_in(text) == version


def test_a_hydra_beside_mpiname_is_mvapich(empty_machine: Path, script: Script) -> None:
    script(empty_machine / "a/bin/mpiexec", HYDRA)
    script(empty_machine / "a/bin/mpiname", "echo 'MVAPICH2 2.3.7 Wed March 02 2022 ch3:mrail'")
    script(empty_machine / "b/bin/mpiexec", HYDRA)
    found = {one.name: one for one in libraries([empty_machine / "a", empty_machine / "b"])}
    assert sorted(found) == ["mpich-3.2.1", "mvapich-2.3.7"]
    library = found["mvapich-2.3.7"]
    assert (library.launcher, library.title) == ("hydra", "MVAPICH 2.3.7 (prefix)")
    (library.prefix / "lib").mkdir()
    (library.prefix / "lib/libmpi.so.12").write_bytes(b"libpmix.so.2")
    assert vendor_of(library).speaks(library) == ("pmix", "pmi2")


def test_a_library_that_was_measured_is_known_by_its_text() -> None:
    measured = ["mpich-2.3.7", "mvapich-2.3.7"]
    assert libraries_in("MVAPICH2 Version:       2.3.7", measured) == ["mvapich-2.3.7"]
