"""The kernels of the NAS Parallel Benchmarks: the trace has what another tool counts beneath it.

What that tool counts is compared with closed forms where kernels are tested.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.facts.program.npb import beside_closed_form
from nhalf.facts.program.program import Program
from nhalf.measure.probe.subject import library_subject, transport_file
from nhalf.measure.traced.tables import TraceFolder
from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import Traffic, sends, traffic_of
from nhalf.mpi.probe import compiler_variables
from tests.nhalf.measure.apps.counting import read
from tests.nhalf.measure.traced.programs import FOUND, nhalf, traced
from tests.patience import patience_s

SOURCE = Path(__file__).parents[3] / "native/apps/counter.cpp"
KERNELS = ("ep", "mg", "cg", "ft", "is", "lu", "sp", "bt")
RANKS = 4
COUNTED = ("allreduce", "reduce", "alltoall", "alltoallv")
"""Collectives that the other tool knows."""


def traffic(trace: TraceFolder, rank: int) -> Traffic:
    """What a rank sent but for MPI_COMM_WORLD, in the counter's terms: of an all-to-all a block."""
    found: Traffic = Counter()
    rows = trace.table("calls").filter(
        (pl.col("rank") == rank) & (pl.col("communicator") > 0) & (pl.col("partner") != -1)
    )
    for row in rows.collect().iter_rows(named=True):
        name = row["call"].removeprefix("MPI_").lower()
        blocks = RANKS if name == "alltoall" else 1
        if row["kind"] == "sent":
            found["send", row["partner"], row["size_bytes"]] += row["count"]
        elif row["kind"] == "collective" and row["size_bytes"] > 0 and name in COUNTED:
            found[name, -1, row["size_bytes"] // blocks] += row["count"]
    return found


@pytest.mark.full
@pytest.mark.slow
def test_all_kernels(tmp_path: Path) -> None:
    wrappers = ((one, one.prefix / "bin/mpicxx_abi") for one in FOUND if one.abi)
    library, wrapper = next((each for each in wrappers if each[1].is_file()), (None, None))
    if library is None:
        pytest.skip("no MPI library has a compiler of the standard ABI: nhalf mpi install mpich")
    try:
        command, _ = library_subject(library, transport_file("npb-mpi")).launch(RANKS, "free", "")
    except NhalfError as error:
        pytest.skip(str(error))
    counter, counts = tmp_path / "counter.so", tmp_path / "counts"
    make = [str(wrapper), "-std=c++20", "-shared", "-fPIC", str(SOURCE), "-o", str(counter)]
    made = run(make, patience_s(120), {**library.environment, **compiler_variables(library)})
    assert made.succeeded, made.stderr
    lines = [f"id={kernel} pattern=npb-{kernel} samples_max=1 axis.class=S\n" for kernel in KERNELS]
    beneath = ["env", f"LD_PRELOAD={counter}", f"NHALF_COUNTS={counts}", command[-1]]
    outcome, trace = traced(
        library, tmp_path / "trace", RANKS, beneath, "--quiet", text="".join([*lines, "end\n"])
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.count('"verified":true') == len(KERNELS)
    for rank in range(RANKS):
        expected = read(counts.with_name(f"{counts.name}.{rank}"))
        assert traffic(trace, rank) == expected


QUICKEST = "cg"


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [pytest.param(name, marks=[] if name == QUICKEST else [pytest.mark.full]) for name in KERNELS],
)
def test_a_traced_run_is_exactly_its_closed_form(kernel: str, tmp_path: Path) -> None:
    library = next((one for one in FOUND if one.vendor == "mpich" and one.abi), None)
    if library is None:
        pytest.skip("no MPICH of the standard ABI here: nhalf mpi install mpich")
    asked = ("--kernel", kernel, "--class", "S", "--ranks", str(RANKS), "--launches", "1")
    app = [sys.executable, "-m", "nhalf", "app", "npb", *asked, "--mpi", library.name]
    folder = tmp_path / "trace"
    words = ("--out", str(folder), "--quiet", "--", *app, "--out", str(tmp_path / "run"))
    outcome = nhalf(library, *words)
    assert outcome.exit_code == 0, outcome.stderr
    comparison = beside_closed_form(Program.open(folder))
    assert comparison is not None
    assert comparison.is_equal
    assert comparison.runs >= 1
    expected = [traffic_of(problem(kernel, "S"), rank, RANKS) for rank in range(RANKS)]
    messages = sum(sends(traffic).total() for traffic in expected)
    assert comparison.messages == comparison.runs * messages
