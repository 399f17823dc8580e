"""Windows, data with gaps and threads, of measurements in which each way costs a known factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import altair as alt
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder
from nhalf.present.findings.sending import Threads as ThreadsFinder
from nhalf.present.findings.sending import Windows as WindowsFinder
from nhalf.present.panels import Panel, Table
from nhalf.present.panels.sending import Layouts, Threads, Windows

Make = Callable[..., pl.LazyFrame]

CASES = {
    "rma-put": {"": 1.0, "access=fence": 4.0, "access=lock,window=create": 2.0},
    "pingpong-layout": {
        "by=type,layout=contiguous": 1.0,
        "by=type,layout=vector": 3.0,
        "by=hand,layout=vector": 2.0,
    },
    "pingpong-threads": {
        "communicators=one,threads=1": 1.0,
        "communicators=one,threads=2": 2.5,
        "communicators=each,threads=2": 1.5,
    },
}
KINDS = {
    "rma-put": {"fence": 4.0, "lock and unlock, window: create": 2.0},
    "pingpong-layout": {"vector, data type": 3.0, "vector, packed by hand": 2.0},
    "pingpong-threads": {"2 threads": 2.5, "2 threads, communicator each": 1.5},
}
PANELS: dict[str, Panel] = {
    "rma-put": Windows(),
    "pingpong-layout": Layouts(),
    "pingpong-threads": Threads(),
}


def measured(make: Make, pattern: str, factors: Mapping[str, float]) -> Facts:
    """Every way takes that many times as long as the same message otherwise would."""
    frames = []
    for axes, factor in factors.items():
        frame = make(
            libraries=("mpich",), patterns=(pattern,), sizes=(64, 4096), axes=axes, noise=0.001,
            launch_noise=0.001,
        )  # fmt: skip
        scaled = pl.col("samples_s").list.eval(pl.element() * factor)
        frames.append(frame.with_columns(samples_s=scaled))
    return Facts(pl.concat(frames))


@pytest.mark.parametrize("pattern", CASES)
def test_each_way_is_a_line_at_what_it_costs(pattern: str, make_measurements: Make) -> None:
    chart = PANELS[pattern].render(measured(make_measurements, pattern, CASES[pattern]))
    assert isinstance(chart, alt.TopLevelMixin)
    (rows,) = chart.to_dict()["datasets"].values()
    assert {row["size"] for row in rows} == {"64 B", "4 KiB"}
    for row in rows:
        assert row["ratio"] == pytest.approx(KINDS[pattern][row["kind"]], rel=0.02)
    assert {row["kind"] for row in rows} == set(KINDS[pattern])


@pytest.mark.parametrize("pattern", CASES)
def test_nothing_is_drawn_without_the_standard_or_the_pattern(
    pattern: str, make_measurements: Make
) -> None:
    others = dict(list(CASES[pattern].items())[1:])
    assert PANELS[pattern].render(measured(make_measurements, pattern, others)) is None
    assert PANELS[pattern].render(Facts(make_measurements(patterns=("pingpong",)))) is None


def test_two_patterns_are_chosen_between(make_measurements: Make) -> None:
    both = [
        measured(make_measurements, pattern, CASES["rma-put"]).measurements
        for pattern in ("rma-put", "rma-get")
    ]
    chart = Windows().render(Facts(pl.concat(both)))
    assert chart is not None
    assert not isinstance(chart, Table)
    (rows,) = chart.to_dict()["datasets"].values()
    assert {row["pattern"] for row in rows} == {"rma-put", "rma-get"}


@pytest.mark.parametrize(
    ("finder", "pattern", "words", "ratio"),
    [
        (WindowsFinder(), "rma-put", "with fence costs most", 4.0),
        (ThreadsFinder(), "pingpong-threads", "with 2 threads at the same time takes", 2.5),
    ],
)
def test_the_dearest_way_is_told(
    finder: Finder, pattern: str, words: str, ratio: float, make_measurements: Make
) -> None:
    (found,) = finder.find(measured(make_measurements, pattern, CASES[pattern]))
    assert words in found.text
    assert found.low is not None
    assert found.high is not None
    assert found.low <= ratio <= found.high
    assert found.remedy


@pytest.mark.parametrize("finder", [WindowsFinder(), ThreadsFinder()])
def test_ways_that_cost_the_same_are_no_finding(finder: Finder, make_measurements: Make) -> None:
    for pattern, factors in CASES.items():
        same = measured(make_measurements, pattern, dict.fromkeys(factors, 1.0))
        assert list(finder.find(same)) == []
