"""However a program is started, and whatever it is under, its calls learn and results stay.

Each start and each condition is tried with one library in the first tier, by turns, and with all in
the second.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import environment, launch
from tests.nhalf.measure.traced.test_starts import STARTS
from tests.nhalf.mpi.routed_programs import FOUND, TIMEOUT_S, built, routed
from tests.nhalf.mpi.test_preload_mpi4py import environment as mpi4py
from tests.nhalf.mpi4py_suite import HANDLES
from tests.patience import patience_s

__all__ = ["mpi4py"]
LIBRARIES = [one for one in FOUND if one.vendor in ("mpich", "openmpi", "intel")]
CONDITIONS = {"filtered": 2, "leaves": 3, "throws": 2, "sessions": 2, "crowded": 4, "exits": 3}
"""What a program is under, and its ranks. More ranks than cores are the condition "crowded"."""
WITHOUT_READS = {"mpich": ["MPIR_CVAR_CH4_CMA_ENABLE=0"]}
"""By which a library does not end programs whose reads of others' memory are refused."""
NO_SESSIONS = 77
pytestmark = pytest.mark.skipif(not LIBRARIES, reason="no MPI library here")


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
    """What the ranks printed, in their order."""
    return sorted(re.findall(r"^rank \d+ \w+ \w+$", outcome.stdout, re.MULTILINE))


def compared(
    library: Library, folder: Path, start: str, what: str, ranks: int, tmp_path: Path
) -> tuple[ProgramOutcome, ProgramOutcome]:
    """What comes of the program without and with collectives that learn."""
    program = built(library, "begins", folder)
    loaded = routed(library, program, None).words
    outcomes = []
    needed = WITHOUT_READS.get(library.vendor, []) if what == "filtered" else []
    for variables in ([], [*loaded, "NHALF_COLL_VERBOSE=1"]):
        words = [*launch(library, ranks), "env", *needed, *variables, str(program), what]
        started = STARTS[start](words, tmp_path)
        outcomes.append(run(started, patience_s(TIMEOUT_S), environment(library)))
    plain, learning = outcomes
    return plain, learning


@pytest.mark.parametrize(("library", "start"), by_turns([*STARTS]))
def test_every_start_learns_and_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, library: Library, start: str, folder: Path, tmp_path: Path
) -> None:
    assert library.mpiexec is not None
    # Some launchers are scripts that look for another one.
    monkeypatch.setenv("PATH", f"{library.mpiexec.parent}:{os.environ['PATH']}")
    plain, learning = compared(library, folder, start, "plain", 2, tmp_path)
    assert plain.exit_code == learning.exit_code == 0, learning.stderr
    assert len(results(plain)) == 2
    assert results(learning) == results(plain)
    assert re.search(r"allreduce from 8 bytes learned", learning.stderr), learning.stderr


@pytest.mark.parametrize(("library", "what"), by_turns([*CONDITIONS]))
def test_every_condition_ends_as_without(
    library: Library, what: str, folder: Path, tmp_path: Path
) -> None:
    ranks = CONDITIONS[what]
    under = "plain" if what == "crowded" else what
    plain, learning = compared(library, folder, "mpiexec", under, ranks, tmp_path)
    if plain.exit_code == NO_SESSIONS:
        pytest.skip(f"{library.name} has no sessions")
    said = plain.stderr + learning.stderr
    if what == "exits":
        assert plain.exit_code not in (0, None), said
        assert learning.exit_code not in (0, None), said
        return
    assert plain.exit_code == learning.exit_code == 0, said
    assert len(results(plain)) >= ranks
    assert results(learning) == results(plain)
    learned = re.findall(r"^nhalf: \w+ from \d+ bytes learned", learning.stderr, re.MULTILINE)
    assert bool(learned) == (what != "sessions"), said
    assert what != "filtered" or "single-copy" not in learning.stderr


SUMS = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
digest = 17
for length, calls in ((2, 140), (16384, 44)):
    for number in range(calls):
        own = array("i", (number * world.rank + place for place in range(length)))
        everybody = array("i", bytes(4 * length))
        world.Allreduce(own, everybody)
        digest = hash((digest, everybody.tobytes(), world.bcast((number, digest % 2), root=0)))
print(f"rank {world.rank} digest {digest % 2**32:x}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("library", "start"), by_turns(["mpiexec"]))
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
    loaded = routed(library, next((mpi4py / "packages/mpi4py").glob("*.so")), None).words
    outcomes = []
    for more in ([], [*loaded, "NHALF_COLL_VERBOSE=1"]):
        words = ["env", *variables, *more, sys.executable, str(script)]
        command = ["sh", "-c", shlex.join([*launch(library, 2), *words])]
        outcomes.append(run(command, patience_s(TIMEOUT_S), environment(library)))
    plain, learning = outcomes
    assert plain.exit_code == learning.exit_code == 0, plain.stderr + learning.stderr
    assert len(results(plain)) == 2
    assert results(learning) == results(plain)
    assert "allreduce from 8 bytes learned" in learning.stderr, learning.stderr
