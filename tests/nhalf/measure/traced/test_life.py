"""Programs behave alike traced, preloaded and plain, from their first call of MPI to their last.

Whatever is loaded besides: libraries for every kind of handles stand in one chain.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.measure.traced.start import RANKS, tracing_libraries
from nhalf.mpi import Library
from nhalf.mpi.preload import abi_library, own_library
from tests.nhalf.measure.traced.programs import (
    CASES,
    FOUND,
    TIMEOUT_S,
    built,
    environment,
    launch,
    traced,
)
from tests.patience import patience_s

SOURCES = Path("../preloaded")
OTHERS = (
    *("destructor", "atexit", "thread", "handlers", "file-size", "descriptors", "addresses"),
    *("addresses-before", "exit-code"),
)
FIRST = ("destructor", "thread", "file-size", "exit-code")
"""What the first tier looks at, on one library."""
AFTER_EXIT = re.compile(rb"__cxa_(thread_)?atexit")
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


@cache
def collectives() -> str:
    """The libraries of collectives for every kind of handles that can be had here."""
    found = [abi_library(one, FOUND) for one in FOUND if one.abi][:1]
    for library in FOUND:
        try:
            found.append(own_library(library, FOUND))
        except MissingError:
            continue
    return ":".join(map(str, dict.fromkeys(found)))


@cache
def tracers() -> str:
    """The libraries that trace, for every kind of handles."""
    return ":".join(map(str, tracing_libraries(["sh"]).libraries))


def seen(
    library: Library, program: Path, what: str, folder: Path, loaded: str, ranks: int = 2
) -> tuple[int | None, list[str], str]:
    """The exit code, what the first rank wrote, and what was said on standard error."""
    folder.mkdir(parents=True)
    file = folder / "seen"
    (folder / RANKS).mkdir()
    words = [f"LD_PRELOAD={loaded}", f"NHALF_TRACE_FOLDER={folder / RANKS}"] if loaded else []
    command = [*launch(library, ranks), "env", *words, str(program), str(file), what]
    outcome = run(command, patience_s(TIMEOUT_S), environment(library))
    # Ranks that are each alone are all the first.
    lines = sorted(file.read_text().splitlines()) if file.is_file() else []
    return outcome.exit_code, lines, outcome.stderr


def cases() -> Sequence[object]:
    """One library meets some ends of a process; all with all are the second tier's."""
    return [
        pytest.param(
            *case,
            what,
            marks=[] if case in CASES[:1] and what in FIRST else [pytest.mark.full],
        )
        for case in CASES
        for what in OTHERS
    ]


@pytest.mark.parametrize(
    ("library", "compiler", "what"), cases(), ids=lambda one: getattr(one, "name", one)
)
def test_a_process_lives_as_without(
    library: Library, compiler: Path, what: str, tmp_path: Path, programs: Path
) -> None:
    program = built(library, compiler, f"{SOURCES}/life.cpp", programs)
    plain = seen(library, program, what, tmp_path / "plain", "")
    assert plain[1], plain[2]
    assert plain[0] == (7 if what == "exit-code" else 0)
    for name, loaded in (
        ("traced", tracers()),
        ("routed", collectives()),
        ("both", f"{tracers()}:{collectives()}"),
    ):
        found = seen(library, program, what, tmp_path / name, loaded)
        assert found[:2] == plain[:2], (name, found)
        assert "nhalf:" not in found[2], (name, found)
        counted = [*(tmp_path / name / RANKS).glob("*.counts")]
        assert bool(counted) == (name != "routed"), name


@pytest.mark.parametrize(
    ("library", "others"),
    [
        pytest.param(
            library,
            others,
            marks=[] if (library, others) == (FOUND[-1], "traced") else [pytest.mark.full],
        )
        for library in FOUND
        for others in ("traced", "routed")
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_serves_no_process_steps_aside_with_one_line(
    library: Library, others: str, tmp_path: Path, programs: Path
) -> None:
    """Libraries for all kinds of handles but the program's own."""
    compiler = next((one for each, one in CASES if each == library), None)
    if compiler is None:
        pytest.skip(f"nothing compiles programs for {library.name}")
    program = built(library, compiler, f"{SOURCES}/life.cpp", programs)
    loaded = (tracers() if others == "traced" else collectives()).split(":")
    plain = seen(library, program, "atexit", tmp_path / "plain", "")
    assert plain[1], plain[2]
    served = []
    for number, path in enumerate(loaded):
        found = seen(library, program, "atexit", tmp_path / str(number), path)
        assert found[:2] == plain[:2], (path, found)
        served.append("nhalf:" not in found[2])
        if not served[-1]:
            assert found[2].count("no preloaded library serves it") == 1, found[2]
    assert served.count(True) == 1, list(zip(loaded, served, strict=True))


@pytest.mark.full
@pytest.mark.parametrize("step_s", [60, pytest.param(-60, marks=pytest.mark.full)])
def test_times_hold_where_the_clock_of_the_day_steps(
    step_s: int, tmp_path: Path, programs: Path
) -> None:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no compiler")
    library, wrapper = CASES[0]
    clock = programs / "libstep.so"
    source = Path(__file__).parents[3] / "native/preloaded/stepping_clock.cpp"
    made = run([compiler, "-shared", "-fPIC", str(source), "-o", str(clock)], TIMEOUT_S)
    assert made.succeeded, made.stderr
    program = built(library, wrapper, f"{SOURCES}/sleeps.cpp", programs)
    words = ["env", f"LD_PRELOAD={clock}", f"STEP_S={step_s}", str(program)]
    outcome, trace = traced(library, tmp_path / "trace", 2, words)
    assert outcome.exit_code == 0, outcome.stderr
    for rank in trace.trace.ranks:
        # Three seconds, and what a busy machine adds; with the step it would be a minute.
        assert 2.9 < rank.end_s - rank.start_s < patience_s(20)
    times_s = trace.table("calls").collect()["time_s"]
    assert times_s.min() >= 0  # type: ignore[operator]


@pytest.mark.parametrize("what", ["tracers", "collectives"])
def test_no_object_of_a_preloaded_library_ends_before_the_process(what: str) -> None:
    for path in {"tracers": tracers, "collectives": collectives}[what]().split(":"):
        assert not AFTER_EXIT.search(Path(path).read_bytes()), path
