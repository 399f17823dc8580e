"""Where a program calls MPI, and when it is off its processor."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from nhalf.facts.program.calls import call_sites, most_expensive
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import CASES, SOURCES, built, every_program, traced

pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")
TIMES, RANKS = 20, 2
SLEEP_S = 4e-3
CALLS = {
    "MPI_Allreduce": 8, "MPI_Irecv": 8, "MPI_Send": 8, "MPI_Wait": 0, "MPI_Barrier": 0,
}  # fmt: skip
"""What places.cpp calls, with the sizes."""


def sites() -> list[tuple[str, str, int, int]]:
    """Place, call, size and number of calls, as the source says."""
    found = []
    for number, line in enumerate((SOURCES / "places.cpp").read_text().splitlines(), 1):
        if line.endswith("// site"):
            call = line.strip().partition("(")[0]
            found.append((f"places.cpp:{number}", call, CALLS[call], TIMES * RANKS))
    return found


@every_program
@pytest.mark.parametrize("end", [(), ("killed",)], ids=["finished", "killed"])
def test_each_call_has_its_line(
    library: Library, compiler: Path, tmp_path: Path, programs: Path, end: tuple[str, ...]
) -> None:
    program = built(library, compiler, "places.cpp", programs, "-g")
    folder = tmp_path / "trace"
    traced(library, folder, RANKS, [str(program), *end], "--detail", "timeline")
    read = Program.open(folder)
    rows = call_sites(read).select("place", "call", "size_bytes", "count").rows()
    assert sorted(rows) == sorted(sites())
    assert set(call_sites(read)["function"]) == {"main"}
    assert set(most_expensive(read)["place"]) <= {place for place, *_ in sites()}
    slept(read)
    # The timeline knows them, too; what waits are for is not at the place of the wait.
    by_site = read.timeline.group_by("site").agg(pl.len()).join(read.sites, on="site")
    assert dict(by_site.select("line", "len").rows()) == {
        int(place.partition(":")[2]): count for place, _, _, count in sites()
    }


def slept(read: Program) -> None:
    """The sleeps before barriers are neither processor time nor that of others."""
    barriers = read.timeline.filter(pl.col("call") == "MPI_Barrier")
    between = read.off_processor.filter(~pl.col("in_call"))
    for rank in range(RANKS):
        starts_s = barriers.filter(pl.col("rank") == rank)["start_s"]
        own = between.filter(pl.col("rank") == rank)
        # A busy machine takes a rank from its processor at other places, too, for shorter.
        sleeps = own.filter(
            pl.col("end_s").is_between(starts_s[0] - 1e-3, starts_s[-1] + 1e-3),
            pl.col("off_s") - pl.col("queued_s") >= SLEEP_S * 0.9,
        )
        # One that lost its processor on its way to sleep slept for less.
        assert TIMES * 0.75 <= len(sleeps) <= TIMES
        assert min(sleeps["off_s"]) >= SLEEP_S * 0.9
        record = read.trace.ranks[rank]
        assert set(record.processors) <= os.sched_getaffinity(0) and record.processors
        assert record.off_s == pytest.approx(sum(own["off_s"]))
        assert record.queued_s == pytest.approx(sum(own["queued_s"]))
