"""Cray MPICH: found by its module without any mpiexec, started by srun."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.discover import as_json, discover
from nhalf.mpi.identify import parse_version
from nhalf.mpi.vendors import libraries_in
from nhalf.mpi.vendors.cray import Cray
from nhalf.sites.examine import DOUBT, library_works
from nhalf.sites.hello import hello
from nhalf.sites.launchers import srun
from nhalf.sites.start import Spread, start

CRAY = Cray()
SAID = """MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)
MPI BUILD INFO : Sun Feb 26 16:42 2023 (git hash aecd99f)
"""
"""From the documentation of a user of MPI.jl."""

Script = Callable[[Path, str], Path]


@pytest.fixture
def module(empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a loaded module, and the programming environment's wrapper."""
    folder = empty_machine / "opt/cray/pe/mpich/8.1.31/ofi/gnu/12.3"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/libmpi_gnu_123.so.12").write_bytes(b"libpmi2.so.0")
    script(empty_machine / "bin/CC", "exit 1")
    monkeypatch.setenv("CRAY_MPICH_DIR", str(folder))
    monkeypatch.setenv("CRAY_MPICH_VERSION", "8.1.31")
    monkeypatch.setenv("CRAYPE_VERSION", "2.7.33")
    return folder


def found() -> Library:
    (library,) = discover().libraries
    return library


def test_the_module_is_a_library_without_mpiexec(module: Path, empty_machine: Path) -> None:
    library = found()
    assert (library.name, library.title) == ("cray-8.1.31", "Cray MPICH 8.1.31 (path)")
    assert (library.prefix, library.mpiexec) == (module, None)
    assert library.compiler == empty_machine / "bin/CC"
    assert library.environment["LD_LIBRARY_PATH"].split(":")[0] == str(module / "lib")
    assert as_json(discover())["libraries"][0]["mpiexec"] is None


@pytest.mark.usefixtures("module")
def test_the_version_may_be_in_the_path_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAY_MPICH_VERSION")
    assert found().name == "cray-8.1.31"


@pytest.mark.usefixtures("module")
def test_another_cc_is_not_its_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAYPE_VERSION")
    assert found().compiler is None


@pytest.mark.usefixtures("module")
def test_a_module_whose_folder_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAY_MPICH_DIR", "/nowhere/mpich/8.1.31")
    assert discover().libraries == []


def test_it_says_what_it_is() -> None:
    assert CRAY.version_in(SAID) == "8.1.25.17"
    assert parse_version(SAID).vendor == "cray"
    assert libraries_in(SAID, ["mpich-8.1.25.17", "cray-8.1.25.17"]) == ["cray-8.1.25.17"]


@pytest.mark.usefixtures("module")
def test_srun_starts_it_where_slurm_has_its_process_management(
    empty_machine: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    offered = "printf 'MPI plugin types are...\\n\\tnone\\n\\tcray_shasta\\n\\tpmi2\\n'"
    script(empty_machine / "bin/srun", offered)
    begin = start(found(), ["probe"], 4, spread=Spread(launcher="srun"))
    assert "--mpi=cray_shasta" in begin.command
    srun._offer_of.cache_clear()
    script(empty_machine / "bin/srun", "printf 'MPI plugin types are...\\n\\tpmi2\\n'")
    with pytest.raises(MissingError, match=r"speaks cray_shasta, srun --mpi=list offers pmi2"):
        start(found(), ["probe"], 4, spread=Spread(launcher="srun"))
    srun._offer_of.cache_clear()


@pytest.mark.usefixtures("module")
def test_without_srun_it_is_one_sentence_with_the_remedy() -> None:
    with pytest.raises(MissingError) as error:
        start(found(), ["probe"], 4)
    assert str(error.value) == (
        "cray-8.1.31 has no mpiexec; use --launcher srun, or leave it out with --mpi"
    )
    assert library_works(found()).state == DOUBT
    assert hello(found()).reason
