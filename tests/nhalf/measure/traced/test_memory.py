"""However much a program does, its tracer takes little memory, and says what it does not keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.collect import LOST
from nhalf.measure.traced.layout import TIMELINE_CUT
from tests.nhalf.measure.traced.programs import CASES, TIMEOUT_S, built, launch, traced
from tests.patience import patience_s

MOST_KIB = 64 * 1024
FILES = 128
"""How many files a program may open that the library itself can start with."""
EVERYTHING = ("threads", "1500", "receives", "300000", "sizes", "1000000", "turns", "100000")
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


def memory_kib(output: str) -> int:
    """What the program says that it has."""
    line = next(line for line in output.splitlines() if line.startswith("memory "))
    return int(line.split()[1])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("what", "detail", "lost"),
    [
        (("sizes", "500000"), "counts", ["sizes"]),
        (("threads", "900", "turns", "70000"), "timeline", ["communicators", "threads"]),
        pytest.param(("receives", "300000"), "counts", ["requests"], marks=pytest.mark.full),
        pytest.param(
            EVERYTHING, "timeline", ["sizes", "communicators", "requests", "threads"],
            marks=pytest.mark.full,
        ),
    ],
    ids=["sizes", "threads", "receives", "everything"],
)  # fmt: skip
def test_memory_is_bounded(
    what: tuple[str, ...], detail: str, lost: list[str], tmp_path: Path, programs: Path
) -> None:
    library, compiler = CASES[0]
    command = [str(built(library, compiler, "crowds.cpp", programs)), *what]
    bare = run([*launch(library, 1), *command], patience_s(TIMEOUT_S), library.environment)
    outcome, trace = traced(library, tmp_path / "trace", 1, command, "--detail", detail)
    assert outcome.exit_code == 0, outcome.stderr
    assert memory_kib(outcome.stdout) - memory_kib(bare.stdout) < MOST_KIB
    assert [note.split()[1] for note in trace.trace.notes] == lost
    files = (tmp_path / "trace/ranks").glob("*.[cj]*")
    assert sum(file.stat().st_blocks // 2 for file in files) < MOST_KIB
    calls = trace.table("calls").collect()
    for call, words in (("MPI_Bcast", "sizes"), ("MPI_Comm_dup", "turns")):
        if words in what:
            counted = calls.filter(calls["call"] == call)["count"].sum()
            assert counted == int(what[what.index(words) + 1])


@pytest.mark.full
def test_threads_outnumber_the_files_that_may_be_open(tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "crowds.cpp", programs)
    limited = ["prlimit", f"--nofile={FILES}:{FILES}", str(program), "threads", str(2 * FILES)]
    _, trace = traced(library, tmp_path / "trace", 1, limited, "--detail", "timeline")
    assert trace.trace.complete
    assert trace.trace.notes == []
    calls = trace.table("calls").collect()
    assert calls.filter(calls["kind"] == "sent")["count"].sum() == 2 * FILES


def test_what_fits_is_counted_whole(tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    number = 20_000
    program = built(library, compiler, "crowds.cpp", programs)
    command = [str(program), "receives", str(number), "threads", "50"]
    _, trace = traced(library, tmp_path / "trace", 1, command)
    assert trace.trace.complete
    calls = trace.table("calls").collect()
    found = {row["call"]: row["count"] for row in calls.to_dicts() if row["kind"] != "sent"}
    assert found == {"MPI_Irecv": number, "MPI_Waitall": 1}
    sent = calls.filter(calls["kind"] == "sent")
    assert sent["count"].sum() == number + 50
    assert sent["thread"].n_unique() == 51


def test_a_timeline_ends_where_it_is_told_to_and_the_counts_go_on(
    tmp_path: Path, programs: Path
) -> None:
    library, compiler = CASES[0]
    number = 20_000
    program = built(library, compiler, "crowds.cpp", programs)
    command = ["env", "NHALF_TRACE_CALLS_MAX=100", str(program), "receives", str(number)]
    _, trace = traced(library, tmp_path / "trace", 1, command, "--detail", "timeline")
    assert trace.trace.notes == [LOST[TIMELINE_CUT]]
    calls = trace.table("calls").collect()
    assert calls.filter(calls["call"] == "MPI_Irecv")["count"].sum() == number
    # A timeline grows by windows, of which the first one is written to its end.
    assert 100 <= len(trace.table("timeline").collect()) < number
