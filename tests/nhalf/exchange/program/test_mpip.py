"""A report of mpiP becomes a trace with its counts, bytes and times."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.program.mpip import is_mpip, read_mpip
from tests.server import Ended

REPORT = """@ mpiP
@ Command : ./solver -n 100
@ Version                  : 3.5.0
@ MPI Task Assignment      : 0 node1
@ MPI Task Assignment      : 1 node2

---------------------------------------------------------------------------
@--- MPI Time (seconds) ---------------------------------------------------
---------------------------------------------------------------------------
Task    AppTime    MPITime     MPI%
   0        2.5        0.5    20.00
   1        2.4        0.6    25.00
   *        4.9        1.1    22.45
---------------------------------------------------------------------------
@--- Callsites: 2 ---------------------------------------------------------
---------------------------------------------------------------------------
 ID Lev File/Address        Line Parent_Funct             MPI_Call
  1   0 solver.c              12 main                     Send
  2   0 solver.c              14 main                     Allreduce
---------------------------------------------------------------------------
@--- Callsite Time statistics (all, milliseconds): 4 ----------------------
---------------------------------------------------------------------------
Name              Site Rank  Count      Max     Mean      Min   App%   MPI%
Allreduce            2    0     10       20       15        5   6.00  30.00
Allreduce            2    1     10       20       14        5   5.83  23.33
Allreduce            2    *     20       20     14.5        5   5.92  26.36

Send                 1    0    100        4      3.5        1  14.00  70.00
Send                 1    *    100        4      3.5        1   7.14  31.82
---------------------------------------------------------------------------
@--- Callsite Message Sent statistics (all, sent bytes) -------------------
---------------------------------------------------------------------------
Name              Site Rank   Count       Max      Mean       Min       Sum
Allreduce            2    0      10         8         8         8        80
Allreduce            2    1      10         8         8         8        80
Send                 1    0     100      2000      1000       500  1.00e+05
Send                 1    *     100      2000      1000       500  1.00e+05
---------------------------------------------------------------------------
@--- End of Report --------------------------------------------------------
"""


def test_rows_of_single_ranks_are_kept() -> None:
    found = read_mpip(REPORT, "report")
    rows = {(row["rank"], row["call"]): row for row in found.calls.iter_rows(named=True)}
    assert set(rows) == {(0, "MPI_Allreduce"), (1, "MPI_Allreduce"), (0, "MPI_Send")}
    send = rows[0, "MPI_Send"]
    assert (send["count"], send["bytes"], send["size_bytes"]) == (100, 100000, 1000)
    assert send["time_s"] == pytest.approx(0.35)
    assert (send["min_s"], send["max_s"]) == pytest.approx((0.001, 0.004))
    assert (send["kind"], rows[1, "MPI_Allreduce"]["kind"]) == ("sent", "collective")
    trace = found.trace
    assert [(one.host, one.end_s) for one in trace.ranks] == [("node1", 2.5), ("node2", 2.4)]
    assert trace.command == ["./solver", "-n", "100"]


def test_a_report_without_call_sites_says_so() -> None:
    with pytest.raises(InputError, match="call sites"):
        read_mpip(REPORT.split("@--- Callsite Time", maxsplit=1)[0], "report")
    assert is_mpip(REPORT)
    assert not is_mpip("# OSU MPI Latency Test")


def test_it_is_shown_as_a_trace(tmp_path: Path, call: Callable[..., Ended]) -> None:
    log, run = tmp_path / "solver.mpiP", tmp_path / "run"
    log.write_text(REPORT)
    told = call("import", log, "--out", run)
    assert told.code == 0, told.err
    found = json.loads(call("show", run, "--json").out)
    assert (found["ranks"], found["elapsed_s"], found["shape"]["name"]) == (2, 2.5, "none")
    assert found["sends"]["messages"] == {"min": 0, "mean": 50.0, "max": 100}
    assert found["sizes"]["mean_bytes"] == 1000
    assert found["collectives"][0]["operations"] == 10
    call("import", log, "--out", run).is_error(2, "already")
    call("import", log, log, "--out", tmp_path / "two").is_error(2, "one at a time")


def test_times_from_1000_s_on_have_an_exponent() -> None:
    """mpiP writes three digits."""
    first = next(line for line in REPORT.splitlines() if line.split()[:1] == ["0"])
    words = first.split()
    long = first.replace(words[1], "2.40e+03", 1)
    found = read_mpip(REPORT.replace(first, long), "report")
    assert found.trace.ranks[0].end_s == 2400.0
