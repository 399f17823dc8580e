"""The file of a node's gates: nothing is lost by writers at once, crashes or foreign lines."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.store.gates import (
    PAIRS,
    GateRecord,
    append_gates,
    gate_path,
    read_gates,
    read_pair_gates,
    read_places,
    timed_on,
)

WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def record(number: int = 0, **members: object) -> GateRecord:
    usual = {
        **{"node": "n1", "at": WHEN, "verdict": "go", "counts": True},
        "times_s": {"core 0": 1.0 + number},
    }
    return GateRecord(**{**usual, **members})  # type: ignore[arg-type]


def append(folder: Path, gate: GateRecord) -> None:
    append_gates(folder, gate.node, gate)


def write(folder: Path, first: int) -> None:
    for number in range(first, first + 40):
        append(folder, record(number, reason="x" * 3000))


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    gates = [record(1), record(2, verdict="no-go", counts=False, reason="core 0")]
    for each in gates:
        append(tmp_path / "new", each)
    read = read_gates(gate_path(tmp_path / "new", "n1"))
    assert (list(read.records), read.unread) == (gates, 0)


def test_no_line_of_several_writers_is_lost(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3) as pool:
        list(pool.map(write, [tmp_path] * 3, [0, 100, 200]))
    read = read_gates(gate_path(tmp_path, "n1"))
    assert (len(read.records), read.unread) == (120, 0)
    assert {each.times_s["core 0"] for each in read.records} == {
        1.0 + first + number for first in (0, 100, 200) for number in range(40)
    }


def test_torn_and_foreign_lines_cost_nothing_else(tmp_path: Path) -> None:
    append(tmp_path, record(1))
    path = gate_path(tmp_path, "n1")
    path.write_bytes(path.read_bytes() + b'what?\n\xff\xfe\n{"node":"n1","at')
    append(tmp_path, record(2))
    read = read_gates(path)
    assert [each.times_s["core 0"] for each in read.records] == [2.0, 3.0]
    assert read.unread == 3


def test_the_baseline_has_the_last_that_count_since_the_last_that_was_accepted(
    tmp_path: Path,
) -> None:
    for number in range(4):
        append(tmp_path, record(number))
    append(tmp_path, record(10, accepts=True))
    append(tmp_path, record(11, counts=False))
    append(tmp_path, record(12))
    append(tmp_path, record(13))
    baseline = read_gates(gate_path(tmp_path, "n1")).baseline(50)
    assert [times["core 0"] for times in baseline] == [11.0, 13.0, 14.0]
    assert len(read_gates(gate_path(tmp_path, "n1")).baseline(2)) == 2


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    for number in range(20):
        append(tmp_path, record(number))
    read = read_gates(gate_path(tmp_path, "n1"), tail_bytes=700)
    assert 2 <= len(read.records) < 20
    assert read.records[-1].times_s == {"core 0": 20.0}
    assert read.unread == 0


def test_no_file_is_no_gate_and_a_folder_says_what_to_do(tmp_path: Path) -> None:
    assert read_gates(tmp_path / "n1.jsonl").records == ()
    (tmp_path / "n1.jsonl").mkdir()
    with pytest.raises(MissingError, match="--baseline"):
        read_gates(tmp_path / "n1.jsonl")
    with pytest.raises(MissingError, match="--baseline"):
        append(tmp_path, record())


def test_gates_of_pairs_are_those_of_all_hosts_in_the_order_of_time(tmp_path: Path) -> None:
    append(tmp_path, record(9))
    for number, host in enumerate(("n2", "n1", "n2")):
        at = WHEN + timedelta(hours=number)
        append(tmp_path, record(number, node=f"{PAIRS}{host}", at=at))
    read = read_pair_gates(tmp_path)
    assert [each.times_s["core 0"] for each in read.records] == [1.0, 2.0, 3.0]
    assert read_pair_gates(tmp_path / "none").records == ()


def test_places_are_folders_and_files_of_gates_each_read_once(tmp_path: Path) -> None:
    append(tmp_path, record(1))
    append(tmp_path, record(2, node=f"{PAIRS}n1"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    append(tmp_path / "run", record(3))
    (tmp_path / "notes.txt").write_text("none")
    places = [tmp_path, gate_path(tmp_path, "n1"), tmp_path / "run", tmp_path / "notes.txt"]
    assert len(read_places(places).records) == 2
    assert not read_places([tmp_path / "never"])
    assert not read_places([])


def test_a_time_is_of_a_node_or_of_two() -> None:
    assert timed_on("n3", "core 5") == ("core 5", ("n3",))
    assert timed_on("n3", "messages") == ("messages", ("n3",))
    assert timed_on(f"{PAIRS}n1", "latency n1 n2") == ("latency", ("n1", "n2"))
    assert timed_on(f"{PAIRS}n1", "") == ("", (f"{PAIRS}n1",))
