"""Preloaded libraries built with sanitizers report nothing in unchanged programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.measure.traced.start import RANKS
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import (
    CASES,
    TIMEOUT_S,
    built,
    environment,
    launch,
)
from tests.nhalf.measure.traced.sanitized import (
    ADDRESS,
    COLLECTIVES,
    SANITIZERS,
    TRACER,
    Sanitizer,
    sanitized,
    words_for,
)
from tests.patience import patience_s

SOURCES = Path("../preloaded")
PROGRAMS = (
    *(("threads", ""), ("life", "destructor"), ("life", "atexit"), ("life", "thread")),
    *(("life", "handlers"), ("life", "communicators"), ("life", "exit-code")),
)
PRELOADED = {"traced": [TRACER], "routed": [COLLECTIVES], "both": [TRACER, COLLECTIVES]}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CASES, reason="no MPI library here"),
]


def started(
    library: Library, program: Path, what: str, folder: Path, words: list[str]
) -> tuple[ProgramOutcome, list[str]]:
    """What came of a program, and what its first rank wrote."""
    (folder / RANKS).mkdir(parents=True)
    file = folder / "seen"
    variables = [f"NHALF_TRACE_FOLDER={folder / RANKS}", *words] if words else ["NAME=value"]
    command = [*launch(library, 2), "env", *variables, str(program), str(file), what]
    outcome = run(command, patience_s(TIMEOUT_S), environment(library))
    return outcome, sorted(file.read_text().splitlines()) if file.is_file() else []


def cases() -> list[object]:
    """Every library with every program; of collectives one with addresses in the first tier."""
    return [
        pytest.param(
            *case,
            sanitizer,
            name,
            marks=[]
            if (case, sanitizer, name) == (CASES[0], ADDRESS, "routed")
            else [pytest.mark.full],
        )
        for case in CASES
        for sanitizer in SANITIZERS
        for name in PRELOADED
    ]


@pytest.mark.full
@pytest.mark.parametrize(
    ("library", "compiler", "sanitizer", "name"),
    cases(),
    ids=lambda value: getattr(value, "name", value),
)
def test_sanitizers_report_nothing(
    library: Library,
    compiler: Path,
    sanitizer: Sanitizer,
    name: str,
    tmp_path: Path,
    programs: Path,
) -> None:
    loaded = [
        sanitized(library, compiler, source, sanitizer, programs) for source in PRELOADED[name]
    ]
    for source, what in PROGRAMS:
        program = built(library, compiler, f"{SOURCES}/{source}.cpp", programs)
        folder = tmp_path / f"{source}-{what}"
        plain, expected = started(library, program, what, folder / "plain", [])
        words = words_for(sanitizer, *loaded)
        outcome, lines = started(library, program, what, folder / name, words)
        assert "Sanitizer" not in outcome.stderr, outcome.stderr
        assert (outcome.exit_code, lines) == (plain.exit_code, expected), (source, what)
        counted = [*(folder / name / RANKS).glob("*.counts")]
        assert bool(counted) == (TRACER in PRELOADED[name]), (source, what)


@pytest.mark.parametrize("sanitizer", SANITIZERS, ids=str)
def test_a_fault_is_reported(sanitizer: Sanitizer, tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    source = Path(__file__).parents[3] / "native/preloaded/faulty.cpp"
    faulty = sanitized(library, compiler, source, sanitizer, tmp_path)
    program = built(library, compiler, f"{SOURCES}/life.cpp", programs)
    words = words_for(sanitizer, faulty)
    outcome, _ = started(library, program, "exit-code", tmp_path / "seen", words)
    assert f"{sanitizer.name.capitalize()}Sanitizer" in outcome.stderr
