import json
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.node import computing, nodes, reached, roofs
from nhalf.facts.precision import missed, point_warnings
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.records import Records
from nhalf.measure.plan.state import RunState
from nhalf.node.measuring import CoreProbe, ask
from nhalf.node.reading import UNIT, Reading
from nhalf.present.findings import findings
from nhalf.present.panels.applications import ApplicationRoofline
from nhalf.present.report.page import page
from nhalf.present.report.sections import sections
from nhalf.present.terminal.node import show_node
from nhalf.store.record import Record, event, named_values
from nhalf.store.run import Run
from tests.nhalf.applied import Ran, applied
from tests.nhalf.node.synthetic_core import CYCLE_S, SyntheticCore

PEAK_PER_S = 2 * 4 * 2.0 / CYCLE_S
TRIAD_BPS = {48 << 10: 200e9, 2 << 20: 100e9, 16 << 20: 40e9, 512 << 20: 10e9}


def record(position: int, pattern: str, size_bytes: int, **others: Any) -> Record:
    usual: dict[str, Any] = {
        "transport": "node", "mpi": "", "algorithm": "native", "ranks": 1, "placement": "cores",
        "launch": 0, "started_s": 1.7e9 + position, "batch": 1, "messages_per_round": 1,
        "bytes_per_time": 0, "stop": "precision", "verified": True, "advice": [],
    }  # fmt: skip
    return Record(
        **{**usual, "pattern": pattern, "bytes": size_bytes, "position": position, **others}
    )


def of_reading(position: int, one: Reading) -> Record:
    axes = ",".join(f"{name}={text}" for name, text in one.axes)
    return record(
        position,
        one.pattern,
        one.size_bytes,
        axes=axes,
        launch=one.launch,
        samples_s=[one.low_s] * 5,
        values=named_values(dict(one.values)),
    )


@pytest.fixture
def node_run(tmp_path: Path) -> Run:
    """A run of a node whose caches, units and bandwidth are known."""
    run = Run.create(
        tmp_path / "node", {"titles": {"node": "this core"}, "environment": {"host": "n1"}}
    )
    with run.journal() as journal:
        records = Records(journal, RunState(), Progress(quiet=True))
        for launch in range(2):
            core = SyntheticCore(launch=launch, seed=launch + 1)
            ask(cast("CoreProbe", core))
            for position, one in enumerate(core.readings):
                records.journal.append(event("point", "node", of_reading(position, one)))
        fused = record(
            1000, UNIT, 0, axes="bits=256,chains=12,operation=fused", samples_s=[CYCLE_S / 2],
            values=named_values({"cycle_s": CYCLE_S, "cycles_p25": 0.5, "preempted": 3.0}),
        )  # fmt: skip
        journal.append(event("point", "node", fused))
        for position, (level_bytes, rate_Bps) in enumerate(TRIAD_BPS.items()):
            each = level_bytes // 6 // 8 * 8
            triad = record(
                position, "memory-triad", each, transport="threads", bytes_per_time=3 * each,
                samples_s=[3 * each / rate_Bps] * 5,
            )  # fmt: skip
            journal.append(event("point", "threads", triad))
    run.finish()
    return run


def test_the_roofline_is_made_of_units_and_bandwidth(node_run: Run) -> None:
    facts = Facts.of([node_run])
    (one,) = nodes(facts)
    assert one.peak_per_s == pytest.approx(PEAK_PER_S, rel=0.01)
    found = {roof.level: roof for roof in roofs(facts)}
    assert set(found) == {"L1", "L2", "L3", "memory"}
    assert found["L3"].rate_Bps == pytest.approx(40e9, rel=0.01)
    assert found["memory"].rate_Bps == pytest.approx(10e9, rel=0.01)
    assert found["memory"].ridge_per_byte == pytest.approx(PEAK_PER_S / 10e9, rel=0.02)
    assert found["memory"].reached_per_s(1.0) == pytest.approx(10e9, rel=0.01)
    assert found["memory"].reached_per_s(1e3) == pytest.approx(PEAK_PER_S, rel=0.01)


def test_applications_are_held_against_the_roofline(node_run: Run) -> None:
    node = Facts.of([node_run])
    ran = applied({Ran("cg", "mpich", 1): 0.1, Ran("ep", "mpich", 1): 1.0})
    both = [node.measurements, ran.measurements]
    environments = {**node.environments, **ran.environments}
    facts = Facts(
        pl.concat(both, how="diagonal_relaxed"), {**node.titles, **ran.titles}, environments
    )
    (one,) = reached(facts)
    assert (one.kernel, one.series, one.workers, one.limit) == ("cg.A", "MPICH", 1, "memory")
    assert one.rate_per_s == pytest.approx(1e9, rel=0.02)
    assert one.bound_per_s == pytest.approx(10e9 / 6, rel=0.01)
    assert one.share == pytest.approx(0.6, rel=0.03)
    table = ApplicationRoofline().render(facts)
    assert table is not None
    assert table.rows[0][-2:] == ["memory bandwidth", "60 %"]
    assert ApplicationRoofline().render(ran) is None


def test_what_a_core_does_joins_a_machine_file(node_run: Run) -> None:
    facts = Facts.of([node_run])
    found = computing(facts)
    assert found.clock_hz == pytest.approx(1 / CYCLE_S, rel=0.01)
    assert found.flops_per_s == pytest.approx(PEAK_PER_S, rel=0.01)
    assert found.memory_Bps == pytest.approx(10e9, rel=0.01)


def test_report_and_findings_tell_of_the_node(node_run: Run) -> None:
    facts = Facts.of([node_run])
    names = {section.name for section in sections(facts)}
    assert {"load-latency", "units", "roofline"} <= names
    texts = {one.kind: one.text for one in findings(facts)}
    assert "L1 48 KiB in 12 ways" in texts["caches"]
    assert "L2 2 MiB in 16 ways" in texts["caches"]
    assert "L3 32 MiB to 96 MiB, 28 ns" in texts["caches"]
    assert texts["caches"].startswith("Caches and their load-to-use latencies: ")
    figures = {one.kind: one.figure for one in findings(facts)}
    assert figures["caches"] == "3 levels"
    assert figures["peak"].endswith(" GFLOP/s")
    assert figures["roofline"].endswith(" flop/B")


def test_columns_of_a_node_say_what_they_count(
    node_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    show_node(node_run, Facts.of([node_run]), None, None)
    shown = capsys.readouterr().out
    assert "load-to-use latency" in shown
    assert "a miss adds" in shown


def test_points_of_a_core_are_no_curves_of_messages(node_run: Run) -> None:
    assert Facts.of([node_run]).whole["pattern"].unique().to_list() == ["memory-triad"]


def test_no_repetition_is_advised_for_what_is_not_looked_for(node_run: Run) -> None:
    found = [one for one in findings(Facts.of([node_run])) if "level 3" in one.text]
    assert [one.remedy for one in found] == [""]


def test_the_report_of_a_node_speaks_of_no_messages(node_run: Run) -> None:
    facts = Facts.of([node_run])
    shown = page(facts)
    assert '<h1 id="title">Node performance of n1</h1>' in shown
    subtitle = shown[shown.index('class="sub"') : shown.index('id="findings"')]
    assert not [word for word in ("librar", "pattern", "difference") if word in subtitle]


def test_single_points_of_a_node_are_no_findings(node_run: Run) -> None:
    facts = Facts.of([node_run])
    assert missed(facts).is_empty()
    assert not point_warnings(facts)
    assert not [one for one in findings(facts) if "--resume" in one.remedy]


def test_a_busy_node_is_a_finding(node_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nhalf.node.reading.BUSY_SHARE", 1e-4)
    (found,) = [one for one in findings(Facts.of([node_run])) if one.kind == "busy-node"]
    assert found.text.startswith("Other programs had the core during")
    assert found.remedy == "Measure again on a node where nothing else runs."


def test_bandwidth_is_shown_by_level(node_run: Run) -> None:
    shown = {section.name: section.spec for section in sections(Facts.of([node_run]))}
    assert "memory" not in shown
    spec = shown["level-bandwidth"]
    assert spec is not None
    (rows,) = [data for data in spec["datasets"].values()] if "datasets" in spec else [
        spec["data"]["values"]
    ]  # fmt: skip
    assert {row["kind"] for row in rows} == {"L1", "L2", "L3", "memory"}
    # One number of cores stands in the middle of its axis.
    assert '"domain": [0, 2]' in json.dumps(spec)
