"""Efficiencies of programs on real libraries, beside their closed forms.

Ranks sleep where others compute, so that few processors suffice; what other programs, or waiting
ranks, take of these is no time of the program.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.decide.program.basis import efficiency
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from tests.nhalf.measure.traced.known_efficiencies import ROUNDS, known
from tests.nhalf.measure.traced.programs import (
    FOUND,
    built,
    compilers,
    launch,
    nhalf,
)

RANKS, UNIT_US = 4, 20_000
NEAR_SHARE = 0.05
LAUNCHES = 3
"""A neighbour that takes a processor for a whole round disturbs some launches, not all."""
YIELDING = {
    "intel": {"I_MPI_THREAD_YIELD": "3", "I_MPI_THREAD_SLEEP": "0"},
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"},
}
"""How ranks that wait let others have the processor, where they can."""
CASES = [
    pytest.param(
        library, word, id=f"{library.name}-{word}",
        marks=[] if (library.vendor, word) == ("mpich", "late") else [pytest.mark.full],
    )
    for library in FOUND
    for word in ROUNDS
]  # fmt: skip


@pytest.mark.parametrize(("library", "word"), CASES)
def test_four_ranks_on_few_processors(
    library: Library, word: str, programs: Path, tmp_path: Path
) -> None:
    compiler = sorted(compilers(library), key=lambda path: not path.name.endswith("_abi"))[0]
    program = built(library, compiler, "../fabric/efficiencies.cpp", programs)
    variables = [f"{name}={value}" for name, value in YIELDING.get(library.vendor, {}).items()]
    words = [str(program), word, str(ROUNDS[word]), str(UNIT_US)]
    command = [*launch(library, RANKS), "env", *variables, *words]
    for folder in (tmp_path / f"traced-{number}" for number in range(LAUNCHES)):
        outcome = nhalf(library, "--detail", "timeline", "--out", str(folder), "--", *command)
        assert outcome.succeeded, outcome.stderr
        errors = _errors(Program.open(folder), word)
        if errors == (near := pytest.approx(dict.fromkeys(errors, 0.0), abs=NEAR_SHARE)):
            return
    assert errors == near


def _errors(trace: Program, word: str) -> dict[str, float]:
    tree = efficiency(trace)
    assert tree is not None
    begins_s = [record.begin_s for record in trace.trace.ranks]
    late_units = (max(begins_s) - min(begins_s)) / (UNIT_US * 1e-6)
    return known(word, RANKS, ROUNDS[word]).errors(tree, late_units)
