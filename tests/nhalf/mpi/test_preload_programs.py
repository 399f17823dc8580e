"""Unchanged programs with routed collectives, on every library of this machine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.errors import InputError
from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.mpi.preload import preload
from nhalf.sites.start import cores
from tests.nhalf.mpi.routed_programs import (
    FOUND,
    SOURCES,
    TIMEOUT_S,
    WAYS,
    built,
    processes_read_each_other,
    routed,
    started,
    table_of,
)
from tests.patience import patience_s


@pytest.fixture(scope="module", params=[one.name for one in FOUND])
def library(request: pytest.FixtureRequest) -> Library:
    return next(one for one in FOUND if one.name == request.param)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks", [1, 2, 3, pytest.param(5, marks=pytest.mark.full)])
@pytest.mark.parametrize("number", [*WAYS, 0, 3])
def test_routed_collectives_give_what_the_librarys_own_do(
    library: Library, folder: Path, ranks: int, number: int
) -> None:
    program = built(library, "compare", folder)
    loaded = routed(library, program, table_of(folder, number))
    code, output = started(library, ranks, loaded, [str(program), "300", str(ranks)])
    assert code == 0, output
    assert "0 of 300 calls differ" in output
    assert "is the library's own" not in output
    taken = set(re.findall(r"nhalf: (?:all)?reduce (\S+) [1-9]", output)) - {"native"}
    assert bool(taken) == (ranks > 1)
    if number in WAYS:
        can = number != -2 or processes_read_each_other()
        assert (f"allreduce {WAYS[number][0]} " in output) == (ranks > 1 and can)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("number", [-1, 0])
def test_nothing_that_programs_do_beside_gets_in_the_way(
    library: Library, folder: Path, ranks: int, number: int
) -> None:
    program = built(library, "traps", folder)
    loaded = routed(library, program, table_of(folder, number))
    without = ["without-errors"] if library.vendor == "intel" else []
    code, output = started(library, ranks, loaded, [str(program), *without])
    assert code == 0, output
    assert "0 wrong" in output


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("number", [-1, 0])
def test_types_of_one_signature_may_lie_in_different_orders(
    library: Library, folder: Path, ranks: int, number: int
) -> None:
    if library.vendor == "intel" and ranks > 2:
        pytest.skip("the own allgather of Intel MPI 2021.19 mixes up blocks of different orders")
    program = built(library, "orders", folder)
    loaded = routed(library, program, table_of(folder, number))
    code, output = started(library, ranks, loaded, [str(program)])
    assert code == 0, output
    assert "0 wrong" in output


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("learn", ["", "all"])
def test_what_is_learned_changes_no_result(
    library: Library, folder: Path, ranks: int, learn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NHALF_COLL_LEARN", learn)
    program = built(library, "learns", folder)
    without = ["without-errors"] if library.vendor == "intel" else []
    loaded = routed(library, program, None)
    code, output = started(library, ranks, loaded, [str(program), "200", *without])
    assert code == 0, output
    assert "0 wrong" in output
    assert "learned" in output
    assert ranks <= cores() or "floor of" not in output


@pytest.mark.full  # two cores that have nothing else to do are rare beside other tests
def test_results_stand_beside_the_floor(library: Library, folder: Path) -> None:
    if cores() < 2:
        pytest.skip("ranks that wait for a core measure no floor")
    program = built(library, "learns", folder)
    loaded = routed(library, program, None)
    # Beside other programs the time for it may be over before both ranks have run together.
    for _ in range(5):
        code, output = started(library, 2, loaded, [str(program), "150", "without-errors"])
        assert code == 0, output
        if "nhalf: floor of 2 ranks: a flag takes " in output:
            break
    assert re.search(r"ms saved; [0-9.]+ times the floor of [0-9.]+ us$", output, re.MULTILINE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [2, 3, pytest.param(5, marks=pytest.mark.full)])
@pytest.mark.parametrize("reads", ["never", "refused", "later", "short"])
def test_large_data_are_right_whatever_happens_to_reads_of_others_memory(
    library: Library, folder: Path, ranks: int, reads: str
) -> None:
    if not processes_read_each_other():
        pytest.skip("no process here may read the memory of another")
    program = built(library, "large", folder, "-rdynamic")
    loaded = routed(library, program, table_of(folder, -2))
    code, output = started(library, ranks, loaded, [str(program), reads])
    assert code == 0, output
    assert "0 wrong" in output
    assert ("0 wrong, 0 reads hindered" in output) == (reads == "never")
    assert ("single-copy" in output) == (reads != "refused")


@pytest.mark.sampled(1)
def test_single_copies_are_tried_beside_shared_memory(library: Library, folder: Path) -> None:
    program = built(library, "large", folder, "-rdynamic")
    loaded = routed(library, program, None)
    code, output = started(library, 2, loaded, [str(program), "never", "2500"])
    assert code == 0, output
    assert "0 wrong" in output
    assert ("us by single copy" in output) == processes_read_each_other()


@pytest.mark.sampled(1)
def test_a_table_or_a_variable_leaves_nothing_to_learn(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = built(library, "learns", folder)
    command = [str(program), "150", *(["without-errors"] if library.vendor == "intel" else [])]
    by_table = started(library, 2, routed(library, program, table_of(folder, -1)), command)
    monkeypatch.setenv("NHALF_COLL_LEARN", "0")
    by_variable = started(library, 2, routed(library, program, None), command)
    for code, said in (by_table, by_variable):
        assert code == 0, said
        assert "0 wrong" in said
        assert "barrier shared-memory" in said
        assert "learned" not in said


def test_a_bad_table_is_told_once_and_leaves_all_to_the_library(
    library: Library, folder: Path
) -> None:
    program = built(library, "compare", folder)
    table = folder / "bad.table"
    table.write_text("# nhalf decision table 1\nbcast 2 inf 0 inf magic\nsort 1 2 3 4 5\n")
    code, output = started(library, 2, routed(library, program, table), [str(program), "20"])
    assert code == 0, output
    assert "line 3: there is no operation 'sort'" in output
    assert "shared-memory" not in output


@pytest.mark.full  # none of the libraries that wheels bring has it
@pytest.mark.skipif(shutil.which("gfortran") is None, reason="there is no gfortran")
def test_fortran_is_routed(library: Library, folder: Path) -> None:
    wrapper = library.mpiexec.with_name("mpifort")
    if not wrapper.is_file():
        pytest.skip(f"{library.name} has no mpifort")
    program = folder / f"{library.name}-fortran"
    source = str(SOURCES / "fortran.f90")
    outcome = run(
        [str(wrapper), source, "-o", str(program)], patience_s(TIMEOUT_S), library.environment
    )
    assert outcome.succeeded, outcome.stderr
    loaded = routed(library, program, table_of(folder, -1))
    code, output = started(library, 2, loaded, [str(program)])
    assert code == 0, output
    assert "allreduce shared-memory" in output


def test_a_program_must_be_one_of_the_library(library: Library, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"\x7fELF nothing of MPI")
    with pytest.raises(InputError, match="does not name a library"):
        preload(library, plain)
    with pytest.raises(InputError, match="cannot read"):
        preload(library, tmp_path / "absent")
    with pytest.raises(InputError, match="no decision table"):
        preload(library, None, tmp_path / "absent")


def test_what_was_preloaded_before_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    abi = next((one for one in FOUND if one.abi), None)
    if abi is None or not (native_files.native_folder() / "lib/libnhalf_coll.so").is_file():
        pytest.skip("there is no library of the standard ABI")
    monkeypatch.setenv("LD_PRELOAD", "other.so")
    assert preload(abi).variables["LD_PRELOAD"].endswith("libnhalf_coll.so:other.so")
