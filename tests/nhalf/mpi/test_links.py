"""Transports that are linked with their own library, and MPI libraries that bring another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.probe import check_links, sharing_first
from nhalf.mpi.transport_files import TransportFile

Script = Callable[[Path, str], Path]
UCX = TransportFile("ucx", "MPI", links=("-lucp", "-lucs"), package="libucx-dev")


def library(name: str, compiler: Path, origin: str = "wheel") -> Library:
    return Library(
        name, "mpich", "5.0", Path("/nowhere"), Path("mpiexec"), "hydra", True, compiler, origin
    )


def test_libraries_of_the_system_come_first_and_keep_their_order() -> None:
    wheel = library("a", Path("x"))
    system = [replace(wheel, name=name, origin="system") for name in ("c", "b")]
    assert [one.name for one in sharing_first([wheel, *system])] == ["c", "b", "a"]


def test_what_can_be_linked_is_taken(tmp_path: Path, script: Script) -> None:
    wrapper = script(tmp_path / "mpicxx", f'cat > {tmp_path}/source; echo "$@" > {tmp_path}/words')
    check_links(library("mpich-5.0", wrapper), UCX, {})
    assert "-lucp -lucs" in (tmp_path / "words").read_text()
    assert "MPI_Init" in (tmp_path / "source").read_text()


@pytest.mark.parametrize(
    ("said", "message", "remedy"),
    [
        ("ld: cannot find -lucp: No such file", "cannot find -lucp", "apt-get install libucx-dev"),
        (
            "ld: libuct.so.0: undefined reference to ucs_new",
            "mpich-5.0, which brings other versions of -lucp -lucs",
            "--mpi",
        ),
    ],
)
def test_what_cannot_be_linked_has_a_remedy(
    tmp_path: Path, script: Script, said: str, message: str, remedy: str
) -> None:
    wrapper = script(tmp_path / "mpicxx", f'echo "/usr/bin/{said}" >&2; exit 1')
    with pytest.raises(MissingError, match=message) as raised:
        check_links(library("mpich-5.0", wrapper), UCX, {})
    assert remedy in raised.value.remedy
