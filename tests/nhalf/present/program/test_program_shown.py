"""`nhalf show` of a trace: tables for people, one object for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.cli.verbs.trace import Traced, _print_totals
from nhalf.facts.program.program import Program
from nhalf.measure.traced.tables import TraceFolder
from nhalf.present.program.answer import program_json
from nhalf.present.report.sections import TraceReport
from tests.nhalf.traced_programs import program, sends_of, sent, stored
from tests.server import Ended

Call = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = sent(sends_of(8, lambda rank: [(rank + 1) % 8]), 512, time_s=0.1)
    rows += [
        {"call": "MPI_Bcast", "kind": "collective", "rank": rank, "size_bytes": 64, "count": 3}
        for rank in range(8)
    ]
    return stored(program(8, rows), tmp_path / "run")


def test_tables_are_shown(folder: Path, call: Call) -> None:
    shown = call("show", folder)
    assert shown.code == 0, shown.err
    for words in ("ring of 8 ranks, one way", "512 B to < 1 KiB", "MPI_Bcast", "messages sent"):
        assert words in shown.out


def test_json_has_what_scripts_rely_on(folder: Path, call: Call) -> None:
    shown = call("show", folder, "--json")
    told = json.loads(shown.out)
    assert told["ranks"] == 8
    assert told["messages"][0] == {
        **{"from": 0, "to": 1, "communicator": 0, "call": "MPI_Send"},
        **{"size_bytes": 512, "bytes": 5120, "count": 10},
    }
    assert {"rank", "call", "count", "bytes", "time_s", "wait_s"} <= set(told["calls"][0])
    assert told["sends"]["messages"] == {"min": 10, "mean": 10.0, "max": 10}
    assert told["sends"]["destination_histogram"] == [{"destinations": 1, "ranks": 8}]
    assert (told["shape"]["name"], told["sizes"]["mean_bytes"]) == ("ring", 512)
    assert told["collectives"][0]["operations"] == 3


def test_a_trace_without_any_call_is_shown(tmp_path: Path, call: Call) -> None:
    empty = stored(program(2), tmp_path / "run")
    for options in ([], ["--json"]):
        assert call("show", empty, *options).code == 0


def test_options_of_runs_are_refused(folder: Path, call: Call) -> None:
    for options in (["pingpong"], ["--mpi", "mpich"], ["--style", "osu"]):
        shown = call("show", folder, *options)
        shown.is_error(2, "trace")


def test_a_damaged_table_is_one_line(folder: Path, call: Call) -> None:
    (folder / "calls.parquet").write_bytes(b"PAR1")
    shown = call("show", folder)
    shown.is_error(2, "calls.parquet", "damaged")


def test_a_trace_ends_with_a_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _print_totals(TraceFolder(folder, Program.open(folder).trace), Traced())
    lines = capsys.readouterr().out.splitlines()
    (verdict,) = [line for line in lines if re.search(r"\d+ % of the run is in MPI", line)]
    after = lines[lines.index(verdict) + 1 :]
    assert after[0].startswith("Parallel efficiency ")
    assert after[-1].startswith("Most of the ranks' time in MPI: ")


def test_the_library_is_named_shortly_and_without_control_characters(folder: Path) -> None:
    text = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022\0"
    made = Program.open(folder)
    made.trace.library = text
    heading = TraceReport(made).heading()
    assert heading["subtitle"].split(" · ")[0] == "Open MPI 4.1.4"
    assert "\0" not in json.dumps(program_json(made)).replace("\\u0000", "\0")
    assert program_json(made)["library"] == text.strip("\0")
