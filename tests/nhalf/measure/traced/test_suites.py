"""MPICH's own tests pass when they are traced, wherever they pass otherwise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.measure.traced.collect import collect
from nhalf.measure.traced.start import RANKS, STARTED, StartedCommand, tracing_libraries
from nhalf.mpi import Library
from nhalf.mpi.probe import compiler_variables
from nhalf.sites.start import start
from tests.nhalf.measure.traced.programs import FOUND
from tests.nhalf.mpi import mpich_suite
from tests.patience import patience_s

TIMEOUT_S = 60.0
WRAPPER = "mpicc_abi"
STANDARD = next(
    (one for one in FOUND if one.compiler and one.compiler.with_name(WRAPPER).is_file()), None
)
FOLDERS = (
    *("pt2pt", "coll", "comm", "datatype", "rma", "topo", "init", "attr", "group", "info"),
    *("threads/pt2pt", "threads/comm", "errors/pt2pt", "errors/comm"),
)
ANY_CALL = re.compile("MPI_")
ONE_OF_EACH = (
    *("probe_unexp", "rqfreeb", "icsend", "anyall", "allred", "icallreduce", "ctxdup"),
    *("lockcontention",),
)
"""Probes, freed requests, communicators between groups, wildcards, operations that block and that
do not, communicators, and windows."""
pytestmark = [pytest.mark.slow, pytest.mark.full]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return mpich_suite.sources(tmp_path_factory.mktemp("suite"))
    except mpich_suite.Absent as reason:
        pytest.skip(f"the sources of MPICH's tests cannot be had here: {reason}")


class Tracer:
    """Starts programs of one library, traced or not, without a command line for each."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library, self.folder, self.number = library, folder, 0
        self.collected = 0

    def outcome(self, command: Sequence[str], ranks: int, traced: bool) -> ProgramOutcome:
        """Of a command; where it is traced, what ranks wrote is collected as well."""
        words = list(command)
        folder = self.folder / str(self.number)
        if traced:
            self.number += 1
            (folder / RANKS).mkdir(parents=True)
            try:
                paths = tracing_libraries([str(self.library.mpiexec), *command]).libraries
            except NhalfError as error:
                pytest.skip(str(error))
            loaded = ":".join(map(str, paths))
            words = ["env", f"LD_PRELOAD={loaded}", f"NHALF_TRACE_FOLDER={folder / RANKS}", *words]
            began = StartedCommand(list(command), self.library.name, "counts", 0)
            (folder / STARTED).write_bytes(msgspec.json.encode(began))
        how = start(self.library, words, ranks, bind=False)
        found = run(how.command, patience_s(TIMEOUT_S), how.environment)
        if traced and any((folder / RANKS).glob("*.counts")):
            self.collected += 1
            collect(folder, found.exit_code)
        return found


def verdicts(
    suite: Path, library: Library, listed: Sequence[mpich_suite.Case], folder: Path
) -> Counter[str]:
    """How many pass and were traced; one that fails only when it is traced fails at once."""
    assert library.compiler is not None
    wrapper = library.compiler.with_name(WRAPPER)
    variables = {**library.environment, **compiler_variables(library)}
    try:
        made = mpich_suite.compiled(suite, listed, wrapper, variables, folder / "made")
    except mpich_suite.Absent as reason:
        pytest.skip(f"MPICH's tests cannot be compiled here: {reason}")
    tracer, found = Tracer(library, folder / "traces"), Counter[str]()
    for case in listed:
        if case.source not in made:
            found["does not compile"] += 1
            continue
        given = [f"{name}={value}" for name, value in case.variables.items()]
        command = ["env", *given, str(made[case.source]), *case.arguments]

        def passes(traced: bool, words: list[str] = command, ranks: int = case.ranks) -> bool:
            outcome = tracer.outcome(words, ranks, traced)
            return outcome.succeeded and "No Errors" in outcome.stdout

        is_well = passes(True)
        assert is_well or not passes(False), f"{case} fails when it is traced"
        found["passes" if is_well else "fails without, too"] += 1
    found["traced"] = tracer.collected
    return found


@pytest.mark.skipif(STANDARD is None, reason="no MPI library here compiles for the standard ABI")
def test_one_of_each_kind_passes_when_it_is_traced(suite: Path, tmp_path: Path) -> None:
    assert STANDARD is not None
    folders = [name for name in FOLDERS if (suite / name).is_dir()]
    first = {one.source.stem: one for one in mpich_suite.cases(suite, folders, ANY_CALL)[::-1]}
    listed = [first[name] for name in ONE_OF_EACH if name in first]
    found = verdicts(suite, STANDARD, listed, tmp_path)
    assert found["passes"] == found["traced"] == len(ONE_OF_EACH), found
