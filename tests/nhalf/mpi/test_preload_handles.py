"""Routed collectives find out which handles a program has, and serve it or step aside."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.compiled import reporting_compilation
from nhalf.base.errors import InputError, MissingError
from nhalf.cli.verbs import mpi as verb
from nhalf.mpi import Library
from nhalf.mpi.preload import ABI_LIBRARY, Preload, abi_library, preload
from tests.nhalf.mpi.routed_programs import FOUND, built, started

STEPS_ASIDE = "nhalf: collectives are the library's own: "


def library_of(vendor: str) -> Library:
    found = next((one for one in FOUND if one.vendor == vendor), None)
    if found is None:
        pytest.skip(f"there is no {vendor}")
    return found


def standard() -> Preload:
    """What serves programs of the standard ABI alone."""
    path = native_files.native_folder() / "lib" / ABI_LIBRARY
    if not path.is_file():
        pytest.skip("there is no library of the standard ABI")
    return Preload(path, {"LD_PRELOAD": str(path)})


@pytest.mark.parametrize("vendor", ["mpich", "intel"])
def test_programs_of_either_handles_are_served_where_none_is_named(
    folder: Path, vendor: str
) -> None:
    standard()
    library = library_of(vendor)
    loaded = preload(library, None, None, FOUND)
    if ":" not in loaded.variables["LD_PRELOAD"]:
        pytest.skip("nothing compiles the library for programs of the own header")
    for maker in {library.vendor, "mpich"}:
        program = built(library_of(maker), "orders", folder)
        code, output = started(library, 2, loaded, [str(program)])
        assert code == 0, output
        assert "0 wrong" in output
        assert "allreduce shared-memory" in output
        assert STEPS_ASIDE not in output


@pytest.mark.parametrize("vendor", ["mpich", "openmpi"])
def test_a_program_of_other_handles_runs_as_if_nothing_were_loaded(
    folder: Path, vendor: str
) -> None:
    library = library_of(vendor)
    loaded = standard()
    code, output = started(library, 2, loaded, [str(built(library, "orders", folder))])
    assert code == 0, output
    assert "0 wrong" in output
    assert output.count(STEPS_ASIDE) == 1
    assert "shared-memory" not in output


def test_the_mpi_library_may_be_loaded_late_and_for_a_module_alone(folder: Path) -> None:
    standard()
    library = library_of("mpich")
    module = built(library, "orders", folder, "-shared", "-fPIC")
    program = built(library, "late", folder, "-Wl,--as-needed")
    words = preload(library, None, None, FOUND)
    has_both = ":" in words.variables["LD_PRELOAD"]
    for loaded, is_routed in ((words, has_both), (standard(), False)):
        code, output = started(library, 2, loaded, [str(program), str(module)])
        assert code == 0, output
        assert "0 wrong" in output
        assert ("allreduce shared-memory" in output) == is_routed


def test_programs_without_mpi_run_as_if_nothing_were_loaded(folder: Path) -> None:
    library = library_of("mpich")
    words = ["env", "LD_BIND_NOW=1", "sh", "-c", "echo ran"]
    code, output = started(library, 2, standard(), words)
    assert code == 0, output
    assert output.split() == ["ran", "ran"]


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_what_did_not_come_with_nhalf_is_compiled_once_with_the_header_of_the_standard(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "native/include/interposer/coll.cpp"
    header = tmp_path / "mpi/include/mpi_abi.h"
    code = "#ifdef MPI_ABI\n#include <mpi_abi.h>\n#endif\nint answer() { return HANDLES; }\n"
    for path, text in ((source, code), (header, "#define HANDLES 5\n")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.setenv(native_files.VARIABLE, str(tmp_path / "native"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    without = Library("w", "openmpi", "5", tmp_path, None, "prrte", True, None, "prefix")
    library = replace(without, prefix=tmp_path / "mpi")
    said: list[str] = []
    with reporting_compilation(said.append):
        path = abi_library(without, [library])
        assert preload(library).variables["LD_PRELOAD"] == str(path)
    assert path.name == ABI_LIBRARY
    assert [line.split()[0] for line in said] == ["compiling", "compiled"]
    with pytest.raises(MissingError, match="was not built"):
        abi_library(without)


@pytest.mark.parametrize("name", ["a folder", "a:folder"])
def test_a_place_that_cannot_be_named_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    library = next((one for one in FOUND if one.abi), None)
    if library is None:
        pytest.skip("there is no library of the standard ABI")
    place = tmp_path / name / "lib" / ABI_LIBRARY
    place.parent.mkdir(parents=True)
    place.touch()
    monkeypatch.setenv(native_files.VARIABLE, str(tmp_path / name))
    with pytest.raises(InputError, match="blanks or colons") as error:
        preload(library)
    assert native_files.VARIABLE in str(error.value.remedy)


def test_words_that_a_shell_would_cut_are_not_printed(tmp_path: Path) -> None:
    standard()
    library = next((one for one in FOUND if one.abi), None)
    if library is None:
        pytest.skip("there is no library of the standard ABI")
    table = tmp_path / "a table"
    table.write_text("# nhalf decision table 1\n")
    with pytest.raises(InputError, match="a shell cuts"):
        verb.preload_collectives(verb.Preload(name=library.name, table=table))
