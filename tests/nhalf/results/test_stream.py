"""Rates of each level with their intervals, and which of them are doubtful."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from nhalf.base.rows import Row
from nhalf.cli.verbs.node import node_json
from nhalf.facts.facts import Facts
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.state import RunState
from nhalf.node.measuring import CoreProbe, ask
from nhalf.present.terminal.node import show_node
from nhalf.store.record import event, named_values
from nhalf.store.run import Run
from tests.nhalf.facts.test_node import of_reading, record
from tests.nhalf.node.synthetic_core import SyntheticCore

MEMORY_BYTES = 512 << 20


def facts_of(
    folder: Path, rates_Bps: dict[tuple[int, int], Sequence[float]], waited: float = 0.0
) -> tuple[Run, Facts]:
    """A run whose triad has these rates by cores and size of a core's arrays, one per launch."""
    run = Run.create(folder / "node", {"environment": {"host": "n1"}, "titles": {"node": "core"}})
    with run.journal() as journal:
        records = Records(journal, RunState(), Progress(quiet=True))
        core = SyntheticCore()
        ask(cast("CoreProbe", core))
        for position, one in enumerate(core.readings):
            records.journal.append(event("point", "node", of_reading(position, one)))
        for (cores, each_bytes), launches in rates_Bps.items():
            array_bytes = cores * each_bytes // 3 // 64 * 64
            for launch, rate_Bps in enumerate(launches):
                values: dict[str, Any] = {"waited_share": waited} if waited else {}
                triad = record(
                    0, "memory-triad", array_bytes, transport="threads", launch=launch,
                    ranks=cores, bytes_per_time=3 * array_bytes,
                    samples_s=[3 * array_bytes / rate_Bps] * 5, values=named_values(values),
                )  # fmt: skip
                journal.append(event("point", "threads", triad))
    run.finish()
    return run, Facts.of([run])


def rows_of(facts: Facts, level: str = "memory") -> list[Row]:
    return [row for row in facts.results["stream"] if row["level"] == level]


def test_rates_of_launches_have_an_interval(tmp_path: Path) -> None:
    run, facts = facts_of(tmp_path, {(1, MEMORY_BYTES): [9.9e9, 10e9, 10.1e9]})
    (row,) = rows_of(facts)
    low, high = row["triad_Bps_ci"]
    assert low < 9.9e9 < row["triad_Bps"] < 10.1e9 < high
    assert row["triad_Bps"] == pytest.approx(10e9, rel=0.01)
    assert (row["marks"], row["doubts"]) == ({}, [])
    (shown,) = [each for each in node_json(run, facts, None)["stream"]]
    assert shown["rate_Bps_ci"] == row["triad_Bps_ci"]
    assert shown["mark"] is None


def test_equal_launches_have_an_interval_of_no_width(tmp_path: Path) -> None:
    _, facts = facts_of(tmp_path, {(1, MEMORY_BYTES): [10e9] * 3})
    (row,) = rows_of(facts)
    assert row["triad_Bps_ci"] == pytest.approx([10e9, 10e9])


def test_two_cores_below_one_are_marked_where_intervals_overlap(tmp_path: Path) -> None:
    noisy = {(1, MEMORY_BYTES): [11e9, 12e9, 13e9], (2, MEMORY_BYTES): [10.8e9, 11.5e9, 12.7e9]}
    _, facts = facts_of(tmp_path, noisy)
    one, two = rows_of(facts)
    assert one["marks"] == {}
    assert two["marks"] == {"triad": "no measurable difference from 1 core"}
    assert two["doubts"][0].startswith(
        "memory on 2 cores: triad: no measurable difference from 1 core"
    )


@pytest.mark.parametrize("two_Bps", [5e9, 20e9])
def test_rates_that_are_told_apart_are_not_marked(tmp_path: Path, two_Bps: float) -> None:
    steady = {(1, MEMORY_BYTES): [10e9] * 3, (2, MEMORY_BYTES): [two_Bps] * 3}
    _, facts = facts_of(tmp_path, steady)
    assert [row["marks"] for row in rows_of(facts)] == [{}, {}]


def test_rates_while_others_had_the_cores_are_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, facts = facts_of(tmp_path, {(1, MEMORY_BYTES): [10e9] * 3}, waited=0.35)
    (row,) = rows_of(facts)
    reason = "other programs had the cores for 35 % of the time"
    assert row["marks"] == {"triad": reason}
    document = node_json(run, facts, None)
    assert [each["mark"] for each in document["stream"]] == [reason]
    assert any("had the cores" in doubt for doubt in document["doubts"])
    show_node(run, facts, None, None)
    shown = capsys.readouterr().out
    assert "10 GB/s *" in shown.replace("±0 % ", "")
    assert "memory on 1 core: other programs had the cores for 35 % of the time" in shown


def test_a_missing_rate_of_the_shared_level_has_its_reason(tmp_path: Path) -> None:
    rates = {
        (1, 8 << 20): [40e9] * 3,
        (1, MEMORY_BYTES): [10e9] * 3,
        (64, MEMORY_BYTES): [9e10] * 3,
    }
    _, facts = facts_of(tmp_path, rates)
    assert [row["ranks"] for row in rows_of(facts, "L3")] == [1]
    one, many = rows_of(facts)
    assert one["doubts"] == []
    assert many["doubts"][0].startswith("L3 on 64 cores: not measured, since")
