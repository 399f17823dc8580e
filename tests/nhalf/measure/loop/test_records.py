"""What comes into the journal and into the table.

What a probe is asked.
"""

from __future__ import annotations

from pathlib import Path

from nhalf.measure.loop.records import line
from nhalf.measure.plan.plan import Point
from nhalf.store.run import Run
from tests.nhalf.measure.loop.fakes import FURTHER, Fake, Go, measured, starts


def test_axes_go_to_the_probe_and_into_the_journal(fake: Fake, go: Go, tmp_path: Path) -> None:
    _, events = go(fake(), blocks=[FURTHER])
    points = [e for e in events if e["event"] == "point"]
    assert sorted((e["pattern"], e["axes"], e["bytes"], e["placement"]) for e in points) == [
        ("ibcast", "", 8, "cores"), ("ibcast", "", 64, "cores"),
        ("ibcast", "work=1", 8, "cores"), ("ibcast", "work=1", 64, "cores"),
        ("pingpong", "", 8, "cores"), ("pingpong", "", 64, "cores"),
    ]  # fmt: skip
    lines = (tmp_path / "fake.log.lines").read_text().splitlines()
    assert sum(line.endswith(" axis.work=1") for line in lines) == 2
    assert sum("axis" in line for line in lines) == 2
    assert go(fake(), blocks=[FURTHER])[1] == events, "a finished run starts nothing"
    assert starts(tmp_path) == 1


def test_an_axis_that_makes_a_point_impossible_leaves_the_others(fake: Fake, go: Go) -> None:
    each = """if asked.get("axis.work") == "1":
        say(nhalf="error", id=asked["id"], message="no work here")
        continue"""
    _, events = go(fake(each=each), blocks=[FURTHER])
    assert {(e["axes"], e["bytes"]) for e in events if e["event"] == "failed"} == {
        ("work=1", 8),
        ("work=1", 64),
    }
    assert sum(e["event"] == "point" for e in events) == 4


def test_an_answer_that_is_an_error_leaves_the_point_out(fake: Fake, go: Go) -> None:
    each = "\n    ".join(
        [
            "if n == 8:",
            '    say(nhalf="error", id=asked["id"], message="too large")',
            "    continue",
        ]
    )
    _, events = go(fake(each=each))
    (lost,) = [e for e in events if e["event"] == "failed"]
    assert (lost["bytes"], lost["reason"]) == (8, "too large")
    assert sum(measured(events).values()) == 4


def test_named_values_and_times_of_ranks_are_kept(fake: Fake, go: Go, tmp_path: Path) -> None:
    each = """say(nhalf="point", id=asked["id"], elapsed_s=0.001, batch=1, messages_per_round=2,
        bytes_per_time=n, stop="precision", verified=True, advice=[], samples_s=[1e-6],
        rank_s=[1e-6, 2e-6], values={"skew_s": 3.0, "overlap": 0.5, "nothing": None})
    continue"""
    go(fake(each=each), bytes="8", launches=1)
    (row,) = Run.open(tmp_path / "run").measurements().collect().to_dicts()
    assert row["rank_s"] == [1e-6, 2e-6]
    assert row["values"] == [
        {"name": "nothing", "value": None},
        {"name": "overlap", "value": 0.5},
        {"name": "skew_s", "value": 3.0},
    ]


def test_short_slices_have_few_operations() -> None:
    point = Point("bcast", 2, 8, axes="start=barrier,work=1")
    text = line("7", point, 0.002, 0.01, "operation")
    assert text == (
        "id=7 pattern=bcast bytes=8 slice_s=0.002000 precision=0.010000 samples_min=3 "
        "axis.start=barrier axis.work=1"
    )
    assert " visits=3 axis." in line("7", point, 0.02, 0.01, "operation", 3)
    assert "visits" not in text
    assert "samples_min" not in line("7", point, 0.02, 0.01, "operation")
    assert "samples_min" not in line("7", point, 0.002, 0.01, "first-rank")
