"""`nhalf gate`: a line, an exit code and a file, from given looks and from a real one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from nhalf.base.native_files import executable
from nhalf.node.all_cores import Look
from nhalf.store.gates import read_gates
from tests.nhalf.cli.in_process import call_here
from tests.server import Ended

Call = Callable[..., Any]
Gate = Callable[..., Ended]
TIMES_S = {"core 0": 1e-7, "core 1": 1e-7, "memory 0": 1e-3, "messages": 5e-8}


class Cores:
    """Stands for all cores of a node: core 1 takes `factor` times as long."""

    factor = 1.0
    taken_share = 0.0
    number = 0

    def look(self) -> Look:
        Cores.number += 1
        noise = 1 + 0.002 * (Cores.number % 5)
        times_s = {name: time_s * noise for name, time_s in TIMES_S.items()}
        times_s["core 1"] *= self.factor
        return Look(times_s, self.taken_share, 1)


class Gpus:
    """Stands for the GPUs of a node, which has none at first."""

    times_s: Mapping[str, float] = {}

    def beside(self, look: Look) -> Look:
        return replace(look, times_s={**look.times_s, **self.times_s})


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> type[Cores]:
    """In place of the cores and GPUs of this machine; a look takes a third of a second there."""

    @contextmanager
    def here() -> Iterator[Cores]:
        yield Cores()

    @contextmanager
    def gpus_here() -> Iterator[Gpus]:
        yield Gpus()

    clock_s = iter(number / 3 for number in range(10**6))
    monkeypatch.setattr("nhalf.node.all_cores.all_cores", here)
    monkeypatch.setattr("nhalf.node.all_gpus.all_gpus", gpus_here)
    monkeypatch.setattr("nhalf.cli.verbs.gate.time.monotonic", lambda: next(clock_s))
    monkeypatch.setattr("nhalf.cli.verbs.gate.platform.node", lambda: "n3.cluster")
    monkeypatch.setattr(Cores, "number", 0)
    return Cores


@pytest.fixture
def gate(cores: type[Cores], tmp_path: Path) -> Gate:
    """`nhalf gate` in this process, with the cores that stand in."""
    return lambda *words: call_here("gate", "--baseline", "gates", *words, folder=tmp_path)


def learn(gate: Gate, count: int = 8) -> None:
    for number in range(1, count + 1):
        ended = gate()
        assert (ended.code, ended.out) == (4, f"unsure: n3, learning, gate {number} of 8\n")


def test_a_node_learns_goes_and_stays_out_when_a_core_is_slow(
    gate: Gate, cores: type[Cores], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    learn(gate)
    ended = gate()
    assert ended.code == 0
    assert ended.out.startswith("go: n3, 4 times within ")
    monkeypatch.setattr(cores, "factor", 1.5)
    ended = gate("--junit", "gate.xml")
    assert ended.code == 1
    assert ended.out.startswith("no-go: n3, core 1 takes 1.5")
    assert ended.out.count("\n") == 1
    suite = xml.parse(tmp_path / "gate.xml").getroot()[0]
    assert (suite.get("hostname"), suite.get("failures")) == ("n3", "1")
    records = read_gates(tmp_path / "gates" / "n3.jsonl").records
    assert [record.verdict for record in records] == [*["unsure"] * 8, "go", "no-go"]
    assert [record.counts for record in records] == [*[True] * 9, False]


def test_a_slow_node_that_is_accepted_learns_anew(
    gate: Gate, cores: type[Cores], monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(gate)
    monkeypatch.setattr(cores, "factor", 1.5)
    assert gate().code == 1
    assert gate("--accept").out.endswith("gate 1 of 8\n")
    assert gate().out.endswith("gate 2 of 8\n")


def test_gpus_are_judged_beside_the_cores(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gpus, "times_s", {"GPU 0: copies to the device": 1e-3})
    learn(gate)
    assert gate().out.startswith("go: n3, 5 times within ")
    monkeypatch.setattr(Gpus, "times_s", {"GPU 0: copies to the device": 1.3e-3})
    ended = gate()
    assert ended.code == 1
    assert ended.out.startswith("no-go: n3, GPU 0: copies to the device take 1.3")
    monkeypatch.setattr(Gpus, "times_s", {})
    ended = gate()
    assert (ended.code, "GPU 0: copies to the device of the baseline is not here" in ended.out) == (
        4,
        True,
    )


def test_json_has_every_time_beside_its_baseline(
    gate: Gate, cores: type[Cores], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(gate("--json").out)["times"][0]["ratio"] is None
    learn_more = [gate().code for _ in range(8)]
    assert learn_more == [*[4] * 7, 0]
    monkeypatch.setattr(cores, "factor", 1.3)
    monkeypatch.setattr(cores, "taken_share", 0.4)
    ended = gate("--json")
    answer = json.loads(ended.out)
    assert (ended.code, answer["verdict"], answer["taken_core"]) == (4, "unsure", 1)
    row = next(row for row in answer["times"] if row["name"] == "core 1")
    assert row["ratio"] == pytest.approx(1.3, rel=0.02)
    assert row["ci"][0] < row["ratio"] < row["ci"][1]


def test_sql_has_every_time_of_every_gate(gate: Gate, call: Call, tmp_path: Path) -> None:
    assert gate().code == 4
    query = "select node, name from gates order by name"
    answer = json.loads(call("show", "--sql", query, tmp_path / "gates", "--json").out)
    assert answer["rows"] == [["n3", name] for name in sorted(TIMES_S)]


def test_lines_that_cannot_be_read_are_named_once(
    gate: Gate, cores: type[Cores], tmp_path: Path
) -> None:
    (tmp_path / "gates").mkdir()
    (tmp_path / "gates" / "n3.jsonl").write_text('torn\n{"node":1}\n')
    ended = gate()
    assert ended.err.count("\n") == 1
    assert "2 lines cannot be read" in ended.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--budget", "1s"], 2, "too short"),
        (["--budget", "soon"], 2, "soon"),
        (["--tolerance", "much"], 2, "much"),
        (["--baseline", "/proc/none"], 3, "--baseline"),
    ],
)
def test_what_cannot_be_is_said_with_a_remedy(
    call: Call, words: list[str], code: int, says: str
) -> None:
    call("gate", *words).is_error(code, says)


def test_a_real_gate_learns_or_sees_others_and_leaves_a_line(call: Call, tmp_path: Path) -> None:
    executable("probe-threads")
    ended = call("gate", "--baseline", "gates")
    assert ended.code == 4
    assert ended.out.startswith("unsure: ")
    (file,) = (tmp_path / "gates").iterdir()
    (record,) = read_gates(file).records
    assert record.verdict == "unsure"
    assert {name.partition(" ")[0] for name in record.times_s} >= {"core", "memory"}
    assert all(time_s > 0 for time_s in record.times_s.values())


def test_a_schedule_repeats_the_gate_with_its_options_and_times_nothing(
    gate: Gate, tmp_path: Path
) -> None:
    ended = gate("--print-schedule", "cron", "--tolerance", "10%", "--budget", "8s")
    assert ended.code == 0
    assert ended.out.endswith(
        rf" gate --baseline {tmp_path}/gates --tolerance 10\% --budget 8s" + "\n"
    )
    assert not (tmp_path / "gates").exists()
    of_pairs = gate("--print-schedule", "scrontab", "--hosts", "n[1-3]", "--transport", "tcp")
    assert of_pairs.out.startswith("#SCRON --exclusive --nodes=3 --nodelist=n1,n2,n3 ")
    assert " --hosts n1,n2,n3 --transport tcp\n" in of_pairs.out
    gate("--print-schedule", "at").is_error(2, "unknown schedule")
