"""A program that runs without routed collectives runs with them, and leaves nothing behind."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.mpi import Library
from nhalf.sites.start import start
from tests.named_memory import named_memory
from tests.nhalf.mpi.routed_programs import FOUND, TIMEOUT_S, built, routed, started, table_of
from tests.patience import patience_s

# Sets the variable in $1 to $2 for all ranks but the first.
NOT_FOR_FIRST = (
    'test "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" = 0 || export "$1=$2"; shift 2; exec "$@"'
)
SOME = [one for one in FOUND if one.vendor != "intel"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("library", SOME, ids=lambda one: one.name)
@pytest.mark.parametrize("first", [None, -1])
@pytest.mark.parametrize("others", ["absent", "0.table"])
def test_ranks_with_different_tables_go_the_librarys_way_together(
    library: Library, folder: Path, first: int | None, others: str
) -> None:
    program = built(library, "compare", folder)
    table_of(folder, 0)
    loaded = routed(library, program, None if first is None else table_of(folder, first))
    command = ["sh", "-c", NOT_FOR_FIRST, "sh", "NHALF_COLL_TABLE", str(folder / others)]
    code, output = started(library, 2, loaded, [*command, str(program), "50"])
    assert code == 0, output
    assert "0 of 50 calls differ" in output
    assert output.count("different decision tables") == 1
    assert "shared-memory" not in output


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", SOME, ids=lambda one: one.name)
@pytest.mark.parametrize("ranks", [3, pytest.param(2, marks=pytest.mark.full)])
@pytest.mark.parametrize("number", [-1, pytest.param(0, marks=pytest.mark.full)])
def test_all_ranks_do_without_memory_that_one_has_not_and_give_back_what_they_had(
    library: Library, folder: Path, ranks: int, number: int
) -> None:
    program = built(library, "scarce", folder, "-rdynamic")
    loaded = routed(library, program, table_of(folder, number))
    blocks = 1 if number < 0 else 0
    code, output = started(library, ranks, loaded, [str(program), str(blocks)])
    assert code == 0, output
    assert "0 wrong" in output


@pytest.mark.parametrize("number", [-1, 0])
def test_ranks_that_wait_on_a_revoked_communicator_are_told(folder: Path, number: int) -> None:
    library = next((one for one in FOUND if one.vendor == "openmpi"), None)
    if library is None:
        pytest.skip("only Open MPI revokes communicators")
    program = built(library, "revoked", folder)
    loaded = routed(library, program, table_of(folder, number))
    how = start(library, ["env", *loaded.words, str(program)], 3, bind=False)
    command = [how.command[0], "--with-ft", "ulfm", *how.command[1:]]
    outcome = run(command, patience_s(TIMEOUT_S), how.environment)
    assert outcome.succeeded, outcome.stdout + outcome.stderr
    assert outcome.stdout.count(": 0 wrong") == 3


@pytest.mark.parametrize("deaths", [4, pytest.param(50, marks=pytest.mark.full)])
@pytest.mark.parametrize(("number", "values"), [(-1, 1), (-2, 300_000)])
def test_nothing_is_left_behind_whenever_a_rank_dies(
    folder: Path, number: int, values: int, deaths: int
) -> None:
    library = next((one for one in FOUND if one.vendor == "mpich"), None)
    if library is None:
        pytest.skip("there is no MPICH")
    program = built(library, "dies", folder)
    loaded = routed(library, program, table_of(folder, number))
    before = named_memory()
    moments = random.Random(deaths)
    for death in range(deaths):
        by = (signal.SIGKILL, signal.SIGTERM)[death % 2]
        after_us = str(moments.randrange(3000))
        words = [str(program), after_us, str(int(by)), str(values)]
        code, _ = started(library, 2, loaded, words)
        assert code != 0
    assert named_memory() <= before
