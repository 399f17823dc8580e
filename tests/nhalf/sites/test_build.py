"""Compile ahead: what was built, what was there, and what is missing with its remedy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.preload import Preloaded, own_program
from nhalf.mpi.transport_files import MPI, TransportFile
from nhalf.sites import build as module
from nhalf.sites.examine import ABSENT, DOUBT, GOOD, ExaminedItem
from tests.conftest import write_script

UCX = TransportFile("ucx", "MPI", links=("-lucp",), package="libucx-dev")
SHM = TransportFile("shm", "MPI")


@pytest.fixture(autouse=True)
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Transports mpi, shm and ucx, without any probe; an empty cache."""
    source = tmp_path / "native/include/probe/probe.cpp"
    source.parent.mkdir(parents=True)
    source.touch()
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(tmp_path / "native"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_script(tmp_path / "tools/c++", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "tools"), prepend=":")
    files = {file.name: file for file in (MPI, SHM, UCX)}
    monkeypatch.setattr(module, "transport_files", lambda: files)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A library whose compiler writes what describes itself as a probe, but cannot link UCX."""
    probe = write_script(tmp_path / "probe", "echo '{\"patterns\": []}'")
    body = (
        f'echo "$@" >> {tmp_path}/calls; '
        'case "$*" in *-lucp*) echo "ld: cannot find -lucp" >&2; exit 1;; esac; '
        f'for last; do :; done; cp {probe} "$last"'
    )
    wrapper = write_script(tmp_path / "mpicxx", body)
    return Library(
        "mpich-4.0.2", "mpich", "4.0.2", tmp_path, Path("mpiexec"), "hydra", False, wrapper, "path"
    )


def built(*libraries: Library) -> dict[str, ExaminedItem]:
    return {finding.name: finding for finding in module.build(libraries)}


def test_what_is_missing_is_built_once_and_named(library: Library) -> None:
    other = replace(library, name="mpich-4.0.3", version="4.0.3")
    first = built(library, other)
    assert first["probe mpi"] == ExaminedItem(
        "probe mpi", GOOD, "built for mpich-4.0.2, mpich-4.0.3"
    )
    assert first["probe shm"] == ExaminedItem("probe shm", GOOD, "built for mpich-4.0.2")
    again = built(library, other)
    assert again["probe mpi"].found == "ready for mpich-4.0.2, mpich-4.0.3"
    assert again["probe shm"].found == "ready for mpich-4.0.2"


def test_what_cannot_be_linked_has_its_remedy(library: Library) -> None:
    finding = built(library)["probe ucx"]
    assert finding.state == ABSENT
    assert "cannot find -lucp" in finding.found
    assert finding.remedy == "apt-get install libucx-dev"


def test_a_library_without_compiler_leaves_a_doubt(library: Library) -> None:
    bare = replace(library, name="mpich-4.0.3", version="4.0.3", compiler=None)
    finding = built(library, bare)["probe mpi"]
    assert finding.state == DOUBT
    assert finding.found.startswith("built for mpich-4.0.2; no probe runs on mpich-4.0.3")
    assert "install its development files" in finding.remedy


def test_one_that_does_not_compile_is_named_with_its_log(library: Library, tmp_path: Path) -> None:
    bad = write_script(tmp_path / "bad", "echo 'x.cpp:1: error: no' >&2; exit 1")
    finding = built(replace(library, compiler=bad))["probe mpi"]
    assert finding.state == ABSENT
    assert finding.found.endswith("does not compile: x.cpp:1: error: no")
    assert finding.remedy.startswith("the log is in ")


def test_further_programs_are_built_once_and_what_cannot_be_has_its_remedy(
    library: Library, tmp_path: Path
) -> None:
    source = tmp_path / "native/include/trace/trace.cpp"
    source.parent.mkdir(parents=True)
    source.touch()
    tracer = own_program(library, (), Preloaded("tracer", "t.so", "trace", "trace/trace.cpp"))
    error = MissingError("there is no simulator", "install it")
    further = {"tracer": {library.name: tracer}, "simulator": {"": error}}
    first, again = (list(module.build([], further))[-2:] for _ in range(2))
    assert first[0] == ExaminedItem("tracer", GOOD, "built for mpich-4.0.2")
    assert again[0] == ExaminedItem("tracer", GOOD, "ready for mpich-4.0.2")
    assert first[1] == ExaminedItem("simulator", ABSENT, "there is no simulator", "install it")
    no_source = replace(tracer, source="trace/none.cpp")
    (*_, lacking) = module.build([], {"tracer": {library.name: no_source}})
    assert lacking.state == ABSENT
    assert "trace/none.cpp" in lacking.found


def test_without_libraries_each_transport_is_absent() -> None:
    assert {finding.state for finding in module.build([])} == {ABSENT}
    assert {finding.remedy for finding in module.build([])} == {"nhalf mpi install mpich"}
