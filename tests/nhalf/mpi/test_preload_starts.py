"""However a program is started, and whatever it is under, its calls learn and results stay.

Each start and each condition is tried with one library in the first tier, by turns, and with all in
the second.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi import Library
from nhalf.mpi.preload import own_library
from tests.nhalf.measure.traced.programs import environment, launch
from tests.nhalf.measure.traced.test_starts import STARTS
from tests.nhalf.mpi.routed_programs import FOUND, TIMEOUT_S, built, routed
from tests.nhalf.mpi.test_preload_mpi4py import environment as mpi4py
from tests.nhalf.mpi4py_suite import HANDLES
from tests.patience import patience_s

__all__ = ["mpi4py"]
LIBRARIES = [library for library in FOUND if library.vendor in ("mpich", "openmpi", "intel")]
CONDITIONS = {"filtered": 2, "leaves": 3, "throws": 2, "sessions": 2, "crowded": 4, "exits": 3}
"""What a program is under, and its ranks. More ranks than cores are the condition "crowded"."""
WITHOUT_READS = {"mpich": ["MPIR_CVAR_CH4_CMA_ENABLE=0"]}
"""By which a library does not end programs whose reads of others' memory are refused."""
NO_SESSIONS = 77
VERBOSE = "NHALF_COLL_VERBOSE=1"
LEARNED = re.compile(r"^nhalf: \w+ from \d+ bytes learned", re.MULTILINE)
pytestmark = [
    pytest.mark.slow,  # ranks that spin compute, most of all where they share a core
    pytest.mark.skipif(not LIBRARIES, reason="no MPI library here"),
]


def by_turns(names: Sequence[str]) -> list[object]:
    """Each name with one library, the first tier's by turns, and all with all."""
    return [
        pytest.param(
            library,
            name,
            id=f"{library.name}-{name}",
            marks=[] if column == row % len(LIBRARIES) else [pytest.mark.full],
        )
        for row, name in enumerate(names)
        for column, library in enumerate(LIBRARIES)
    ]


def results(outcome: ProgramOutcome) -> list[str]:
    """What the ranks printed, in their order; a launcher may put two lines into one."""
    return sorted(re.findall(r"rank \d+ \w+ [0-9a-f]+", outcome.stdout))


def launched(words: Sequence[str], library: Library) -> ProgramOutcome:
    return run(words, patience_s(TIMEOUT_S), environment(library))


def learning(words: Sequence[str], library: Library) -> ProgramOutcome:
    """The launch in which calls have been tried, of a few: beside other programs they may take too
    long for what trials may cost.
    """
    for _ in range(5):
        outcome = launched(words, library)
        if outcome.exit_code != 0 or LEARNED.search(outcome.stderr):
            break
    return outcome


def command(library: Library, folder: Path, what: str, ranks: int, *variables: str) -> list[str]:
    """What starts the program, with variables for its ranks."""
    needed = WITHOUT_READS.get(library.vendor, []) if what == "filtered" else []
    program = built(library, "begins", folder)
    return [*launch(library, ranks), "env", *needed, *variables, str(program), what]


def preloading(library: Library, folder: Path) -> list[str]:
    """The variables that preload the library of collectives into the program."""
    return [*routed(library, built(library, "begins", folder), None).words, VERBOSE]


@pytest.mark.parametrize(("library", "start"), by_turns([*STARTS]))
def test_every_start_learns_and_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, library: Library, start: str, folder: Path, tmp_path: Path
) -> None:
    assert library.mpiexec is not None
    # Some launchers are scripts that look for another one.
    monkeypatch.setenv("PATH", f"{library.mpiexec.parent}:{os.environ['PATH']}")
    begin = STARTS[start]
    plain = launched(begin(command(library, folder, "plain", 2), tmp_path), library)
    words = command(library, folder, "plain", 2, *preloading(library, folder))
    loaded = learning(begin(words, tmp_path), library)
    assert plain.exit_code == loaded.exit_code == 0, loaded.stderr
    assert len(results(plain)) == 2
    assert results(loaded) == results(plain)
    assert LEARNED.search(loaded.stderr), loaded.stderr


@pytest.mark.parametrize(("library", "what"), by_turns([*CONDITIONS]))
def test_every_condition_ends_as_without(library: Library, what: str, folder: Path) -> None:
    ranks = CONDITIONS[what]
    under = "plain" if what == "crowded" else what
    plain = launched(command(library, folder, under, ranks), library)
    if plain.exit_code == NO_SESSIONS:
        pytest.skip(f"{library.name} has no sessions")
    words = command(library, folder, under, ranks, *preloading(library, folder))
    loaded = launched(words, library) if what == "sessions" else learning(words, library)
    errors = plain.stderr + loaded.stderr
    if what == "exits":
        assert plain.exit_code not in (0, None), errors
        assert loaded.exit_code not in (0, None), errors
        return
    assert plain.exit_code == loaded.exit_code == 0, errors
    assert len(results(plain)) >= ranks
    assert results(loaded) == results(plain)
    assert bool(LEARNED.search(loaded.stderr)) == (what != "sessions"), errors
    assert what != "filtered" or "single-copy" not in loaded.stderr


SUMS = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
digest = 17
for length, calls in ((2, 260), (16384, 44)):
    for number in range(calls):
        own = array("i", (number * world.rank + place for place in range(length)))
        everybody = array("i", bytes(4 * length))
        world.Allreduce(own, everybody)
        digest = hash((digest, everybody.tobytes(), world.bcast((number, digest % 2), root=0)))
print(f"rank {world.rank} digest {digest % 2**32:x}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("library", "start"), by_turns(["sh"]))
def test_python_learns_and_gives_the_same(
    library: Library, start: str, mpi4py: Path, tmp_path: Path
) -> None:
    """Nothing but the module that Python loads says which library it is."""
    script = tmp_path / "sums.py"
    script.write_text(SUMS)
    variables = [
        f"MPI4PY_MPIABI={HANDLES[library.vendor]}",
        f"PYTHONPATH={mpi4py / 'packages'}",
        "PYTHONHASHSEED=1",
    ]
    try:
        preloaded = f"LD_PRELOAD={own_library(library, FOUND)}"
    except NhalfError as error:
        pytest.skip(str(error))
    begin = [*launch(library, 2), "env", *variables]
    rank = [sys.executable, str(script)]
    plain = launched(STARTS[start]([*begin, *rank], tmp_path), library)
    words = [*begin, preloaded, VERBOSE, *rank]
    loaded = learning(STARTS[start](words, tmp_path), library)
    assert plain.exit_code == loaded.exit_code == 0, plain.stderr + loaded.stderr
    assert len(results(plain)) == 2
    assert results(loaded) == results(plain)
    assert LEARNED.search(loaded.stderr), loaded.stderr
