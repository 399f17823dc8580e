"""`nhalf predict PROGRAM.c`: the time of a C program with MPI on a machine, by its source."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.schemas import check_schema

Call = Callable[..., Any]
PROGRAMS = Path(__file__).parents[3] / "data" / "estimate"
HALO = str(PROGRAMS / "halo.c")
SP2 = ("--machine", "sp2-mpl", "--ranks", "4")


def answer(call: Call, *words: str) -> Any:
    ended = call("predict", *words, "--json")
    assert (ended.code, ended.err) == (0, "")
    check_schema(ended.out)
    return json.loads(ended.out)


def part(estimate: Any, name: str, line: int) -> Any:
    (chosen,) = [row for row in estimate["parts"] if (row["name"], row["line"]) == (name, line)]
    return chosen


def test_computing_is_the_bound_of_the_loops_times_their_iterations(call: Call) -> None:
    bounds = json.loads(call("bound", HALO, "--set", "n=1000", "--json").out)
    cycles = {loop["line"]: loop["cycles"] for loop in bounds["loops"]}
    estimate = answer(call, HALO, *SP2, "--set", "n=1000")
    assert estimate["processor"] == "power2"
    # The first loop finds nothing in the cache, and leaves there what the second one reads; what
    # that one writes misses once in 50 runs.
    for line, iterations, own in ((16, 1002, 22.0 / 8), (25, 50_000, cycles[25])):
        row = part(estimate, "computing", line)
        assert row["count"] == iterations
        assert row["time_s"] == pytest.approx(iterations * own / 66.7e6, rel=0.02)


def test_messages_take_what_the_machine_says_and_all_parts_make_the_whole(call: Call) -> None:
    estimate = answer(call, str(PROGRAMS / "pipeline.c"), *SP2, "--ranks", "2", "--set", "n=1",
                      "--set", "blocks=1", "--processor", "none")  # fmt: skip
    latency = json.loads(
        call("predict", "pingpong", "--machine", "sp2-mpl", "--ranks", "2", "--bytes", "8",
             "--json").out
    )  # fmt: skip
    assert estimate["time_s"] == pytest.approx(latency["rows"][0]["time_s"], rel=1e-6)
    assert sum(row["time_s"] for row in estimate["parts"]) == pytest.approx(estimate["time_s"])
    assert estimate["low_s"] == estimate["high_s"] == estimate["time_s"]


def test_it_says_how_each_part_grows_and_which_decides(call: Call) -> None:
    estimate = answer(call, str(PROGRAMS / "transpose.c"), *SP2, "--set", "n=1024")
    assert estimate["decided_by"] == {"name": "MPI_Alltoall", "line": 20}
    loop, alltoall = part(estimate, "computing", 18), part(estimate, "MPI_Alltoall", 20)
    assert loop["exponent_per_name"] == pytest.approx({"n": 2.0, "ranks": -1.0}, abs=0.01)
    assert alltoall["size_bytes"] == 10 * 1024 * 1024 // 4 * 8
    assert estimate["guessed"] == ["alltoall"]
    assert estimate["low_s"] < estimate["time_s"]
    assert estimate["high_s"] is None


def test_the_time_is_a_formula(call: Call) -> None:
    words = (str(PROGRAMS / "transpose.c"), *SP2, "--set", "n=1024")
    said = answer(call, *words)["formula"]
    assert said["error"] < 0.05
    assert said["decides"] == "bandwidth"
    (computing,) = [term for term in said["terms"] if term["kind"] == "computing"]
    assert computing["powers"] == {"n": {"power": 2, "log2": 0}, "ranks": {"power": -1, "log2": 0}}
    out = call("predict", *words).out
    assert "  T = " in out
    assert " n^2/ranks (computing)" in out
    assert "bandwidth of messages decides" in out


def test_sums_in_the_order_of_the_source_take_longer_than_the_least(call: Call) -> None:
    estimate = answer(call, str(PROGRAMS / "dot.c"), *SP2, "--set", "n=4000")
    row = part(estimate, "computing", 26)
    assert row["time_s"] == pytest.approx(20 * 1000 * 2 / 66.7e6, rel=0.001)
    assert estimate["low_s"] < estimate["time_s"] - 0.4 * row["time_s"]


def test_the_table_names_the_parts_and_what_is_not_in_it(call: Call, tmp_path: Path) -> None:
    out = call("predict", HALO, *SP2, "--set", "n=1000").out
    assert "halo.c on 4 ranks of sp2-mpl, power2, n = 1000: " in out
    assert "or more)" in out
    assert "MPI_Sendrecv in line 23 takes" in out
    assert "no upper end is known" in out
    path = tmp_path / "wave.c"
    path.write_text(
        "#include <mpi.h>\n#include <math.h>\ndouble x[99];\n"
        "int main(void) {\n  for (int i = 0; i < 99; i++) x[i] = sin(x[i]);\n"
        "  MPI_Barrier(MPI_COMM_WORLD); }\n",
        "utf-8",
    )
    assert "not counted: line 5: sin is called" in call("predict", str(path), *SP2).out


REFUSED = {
    ("--machine", "sp2-mpl"): "halo.c:16: how often this loop runs depends on n",
    ("--machine", "altix-bx2", "--set", "n=1"): "altix-bx2 names no processor",
    ("--set", "n=1"): "on which machine?",
    ("--machine", "sp2-mpl", "--set", "n"): "--set n is not NAME=VALUE",
    ("--machine", "sp2-mpl", "--set", "n=1", "--set", "k=1"): "nothing in it depends on k",
    ("--machine", "sp2-mpl", "--set", "n=1", "--ranks", "9999"): "ask for fewer",
    ("--machine", "sp2-mpl", "--set", "n=1", "--engine", "x"): "engine",
    ("--machine", "sp2-mpl", "--set", "n=1", "--engine", "simgrid", "--mpi", "mpich"): "leave out",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_missing_is_said(words: tuple[str, ...], call: Call) -> None:
    call("predict", HALO, *words).is_error(2, REFUSED[words])


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="needs SimGrid")
@pytest.mark.usefixtures("simulator")
def test_simgrid_agrees_where_a_rank_moves_messages_both_ways(call: Call) -> None:
    words = (str(PROGRAMS / "pipeline.c"), "--machine", "altix-bx2", "--ranks", "8", "--set",
             "n=1000", "--set", "blocks=16", "--processor", "none")  # fmt: skip
    followed, simulated = answer(call, *words), answer(call, *words, "--engine", "simgrid")
    assert (followed["engine"], simulated["engine"]) == ("model", "simgrid")
    assert simulated["time_s"] == pytest.approx(199e-6, rel=0.05)  # as of MPICH in virtual time
    assert followed["time_s"] == pytest.approx(199e-6, rel=0.01)
    assert simulated["parts"] == followed["parts"]


CROSSED = """#include <mpi.h>
int main(int argc, char **argv) {{
  int rank; double x = 0;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {calls}
  MPI_Finalize();
}}
"""
RECEIVE = "MPI_Recv(&x, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SEND = "MPI_Send(&x, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);"
BARRIER = "MPI_Barrier(MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("calls", "stuck"),
    [
        (f"{RECEIVE} {SEND}", "MPI_Recv"),
        (f"if (rank) {RECEIVE} {BARRIER} if (!rank) {SEND}", "MPI_Barrier"),
    ],
    ids=["receives", "operation"],
)
def test_ranks_that_wait_for_each_other_have_no_time(
    call: Call, tmp_path: Path, calls: str, stuck: str
) -> None:
    program = tmp_path / "crossed.c"
    program.write_text(CROSSED.format(calls=calls))
    ended = call("predict", program, "--machine", "sp2-mpl", "--ranks", "2")
    ended.is_error(2, "crossed.c:5", stuck, "never ends on rank 0")


def test_one_rank_sends_nothing(call: Call) -> None:
    estimate = answer(call, HALO, *SP2, "--ranks", "1", "--set", "n=1000")
    assert {row["name"] for row in estimate["parts"]} == {"computing"}
