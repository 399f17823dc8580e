"""The spread of launches, and what the numbers depend on."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import polars as pl

from nhalf.facts.facts import Facts
from nhalf.present.panels.precision import Environment, LaunchSpread
from nhalf.store.places import StartedLaunch
from tests.nhalf.present.panels.drawing import PANELS, table_of

Make = Callable[..., pl.LazyFrame]

PLAN = {
    "transports": ["mpi"],
    "blocks": [
        {
            "patterns": ["pingpong", "stream"], "ranks": [2], "bytes": "0:4M", "axes": {},
            "placements": ["cores"], "launches": 0, "weight": 2.0, "precision": 0.0,
            "whole": False, "settings": None, "transports": None,
        },
        {"patterns": ["barrier"], "ranks": [1], "bytes": "", "axes": {"algorithm": "all"},
         "placements": [], "launches": 3, "precision": 0.01},
    ],
    "launches": 5, "budget_s": 40.0, "precision": 0.03, "hosts_found": 0,
}  # fmt: skip


def test_the_spread_is_shown_for_the_pattern_that_is_picked(make_measurements: Make) -> None:
    measured = make_measurements(patterns=("pingpong", "stream"), sizes=(0, 8), launches=30)
    chart = LaunchSpread().render(Facts(measured, {}, {"run": {}}))
    assert isinstance(chart, alt.FacetChart)
    spec = chart.to_dict()
    (shown,) = (parameter for parameter in spec["params"] if parameter["name"] == "shown")
    assert shown["bind"]["options"] == ["pingpong", "stream"]
    assert shown["value"] == "pingpong"
    filters = [layer["transform"] for layer in spec["spec"]["layer"]]
    assert filters == [[{"filter": "datum.pattern === shown"}]] * 2
    (rows,) = spec["datasets"].values()
    launches = [row for row in rows if row["pattern"] == "stream" and row["bytes"] == 8]
    assert 10 <= len(launches) <= 14


def test_what_was_asked_for_is_said_without_the_bookkeeping_of_a_plan(
    make_measurements: Make,
) -> None:
    environment = {"host": "n1", "plan": PLAN}
    table = Environment().render(Facts(make_measurements(), {}, {"run": environment}))
    assert table is not None
    assert dict(table.rows) == {
        "host": "n1",
        "plan transports": "mpi",
        "plan launches": "5",
        "plan budget": "40 s",
        "plan precision": "3 %",
        "plan part 1": "pingpong, stream; 2 ranks; 0:4M bytes; cores",
        "plan part 2": "barrier; 1 rank; algorithm all; 3 launches; precision 1 %",
    }


def test_starts_are_listed_by_library_and_ranks(make_measurements: Make) -> None:
    times_s = {
        ("b", 4, "cores"): [0.5, 0.25, 1.0],
        ("a", 2, "cores"): [0.125],
        ("c", 2, ""): [None],
    }
    starts = {
        start: [StartedLaunch(start[0], start_s=start_s) for start_s in launches]
        for start, launches in times_s.items()
    }
    facts = Facts(make_measurements(), {"a": "A 1"}, find_started=lambda: {"run": starts})
    table = table_of("start-times", facts)
    assert table.rows == [
        ["A 1", "2", "cores", "1", "125 ms", "–"],
        ["b", "4", "cores", "3", "500 ms", "250 ms to 1 s"],
    ]
    assert PANELS["start-times"]().render(Facts(make_measurements())) is None
