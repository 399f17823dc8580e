"""What the library of a traced program says of itself, and that asking it leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.facts.program.library_report import eager_use, forced_algorithms, unreceived
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import TraceFolder
from nhalf.mpi import Library
from nhalf.mpi.probe import compiler_variables
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    SOURCES,
    TIMEOUT_S,
    built,
    every_program,
    maker_of,
    traced,
)
from tests.patience import patience_s

pytestmark = pytest.mark.skipif(not FOUND, reason="no MPI library here")
ASKING = "asking"
INTEL = [case for case in CASES if case[0].vendor == "intel"][-1:]
OPEN_MPI = [case for case in CASES if case[0].vendor == "openmpi"]


def left(
    case: tuple[Library, Path], folder: Path, programs: Path, *words: str, option: str = "--quiet"
) -> TraceFolder:
    """The trace of two ranks, after whose end no session of the interface is open."""
    program = built(*case, "left.cpp", programs)
    outcome, trace = traced(case[0], folder, 2, [str(program), *words], option)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.startswith("over\n")
    assert trace.trace.complete
    return trace


@every_program
def test_the_limit_stands_beside_the_messages_that_are_longer(
    library: Library, compiler: Path, tmp_path: Path, programs: Path
) -> None:
    trace = left((library, compiler), tmp_path / "trace", programs)
    report = trace.trace.mpi_t
    assert report is not None
    if library.vendor not in ("mpich", "openmpi"):
        return
    assert report.control > 400
    assert (report.performance > 0) == (library.vendor == "openmpi")
    use = eager_use(Program.open(trace.path))
    assert use is not None
    assert (use.messages, use.longer) == (2, 1)
    assert 1024 <= use.size_bytes <= 65536
    assert forced_algorithms(Program.open(trace.path)) == ()


def test_a_program_that_asks_itself_and_one_that_is_not_to_be_asked_are_left_alone(
    tmp_path: Path, programs: Path
) -> None:
    trace = left(CASES[0], tmp_path / "own", programs, "0", ASKING)
    assert trace.trace.mpi_t is None
    trace = left(CASES[0], tmp_path / "no", programs, option="--no-mpi-t")
    assert trace.trace.mpi_t is None


@pytest.mark.full
@pytest.mark.parametrize("case", OPEN_MPI, ids=lambda case: case[0].name)
def test_open_mpi_tells_what_was_never_received_and_what_is_forced(
    case: tuple[Library, Path], tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_coll_tuned_bcast_algorithm", "6")
    for is_on in ("0", "1"):
        monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", is_on)
        trace = left(case, tmp_path / is_on, programs, "3")
        program = Program.open(trace.path)
        assert unreceived(program) == 3
        (forced,) = forced_algorithms(program)
        assert (forced.operation, forced.algorithm) == ("bcast", "binomial")
        assert forced.is_taken == (is_on == "1")
        kept = json.loads((trace.path / "trace.json").read_text())["mpi_t"]["variables"]
        assert kept["coll_tuned_bcast_algorithm"] == "6 (binomial)"


@pytest.mark.full
@pytest.mark.parametrize("case", INTEL, ids=lambda case: case[0].name)
def test_intel_mpi_tells_the_numbers_that_it_was_given(
    case: tuple[Library, Path], tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"SHM_EAGER_THRESHOLD": "4096", "THREAD_YIELD": "3", "ADJUST_BCAST": "3"}
    for name, value in given.items():
        monkeypatch.setenv(f"I_MPI_{name}", value)
    trace = left(case, tmp_path / "trace", programs)
    report = trace.trace.mpi_t
    assert report is not None
    assert report.variables.get("MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD") == "4096"
    assert report.variables.get("MPIR_CVAR_IMPI_THREAD_YIELD") == "3"
    assert not any("BCAST" in name for name in report.variables)
    program = Program.open(trace.path)
    assert (eager_use(program), forced_algorithms(program)) == (None, ())


def test_a_fault_in_the_library_ends_the_list_and_those_of_other_threads_stay_the_programs(
    tmp_path: Path,
) -> None:
    library, compiler = CASES[0]
    maker = maker_of(compiler, library)
    variables = {**maker.environment, **compiler_variables(maker)}
    native = SOURCES.parents[2] / "native"
    words = [str(compiler), "-std=c++20", f"-I{native}", str(SOURCES / "faults.cpp")]
    program = tmp_path / "faults"
    made = run([*words, "-o", str(program), "-lpthread"], patience_s(TIMEOUT_S), variables)
    assert made.succeeded, made.stderr
    outcome = run([str(program)], patience_s(TIMEOUT_S), variables)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.splitlines() == [
        "btl_made0_eager_limit 4096",
        "btl_made1_eager_limit 4097",
        "1 provided, handler kept",
    ]
