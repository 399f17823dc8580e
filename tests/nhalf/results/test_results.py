"""What every derived result has in common, and how its numbers are written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import msgspec
import polars as pl
import pytest

from nhalf.base.units import format_rate
from nhalf.present.terminal.summary import result_lines
from nhalf.results import Column, as_json, kinds, parts, results
from nhalf.statistics.summary import summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS, RUN_SUBJECT, SUMMARY_COLUMNS

Make = Callable[..., pl.LazyFrame]


@pytest.mark.parametrize("name", kinds())
def test_every_result_says_what_it_is(name: str) -> None:
    kind = kinds()[name]
    assert kind.title
    assert kind.patterns
    assert kind.parts <= kind.patterns
    assert kind.columns


def test_parts_are_those_of_all_results() -> None:
    assert "ring" in parts()
    assert "pingpong" not in parts()


def test_results_are_listed_without_scipy() -> None:
    program = (
        "import sys\nfrom nhalf.results import kinds\nkinds()\n"
        "print([name for name in sys.modules if name.startswith('scipy')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[]\n", done.stderr


def test_nothing_measured_gives_nothing() -> None:
    nothing = pl.DataFrame(schema=MEASUREMENT_COLUMNS).lazy()
    assert results(nothing, pl.DataFrame(schema=SUMMARY_COLUMNS)) == {}


def test_results_of_other_patterns_are_not_asked_for(make_measurements: Make) -> None:
    measured = make_measurements(patterns=("stream",))
    assert results(measured, summarise(measured)) == {}


def test_rows_name_their_subject_and_are_json(make_rings: Make) -> None:
    measured = make_rings()
    found = results(measured, summarise(measured))
    decoded = msgspec.json.decode(msgspec.json.encode(as_json(found)))
    [row] = decoded["b_eff"]["rows"]
    assert set(RUN_SUBJECT) <= set(row)
    assert row["b_eff_Bps_ci"][0] <= row["b_eff_Bps"] <= row["b_eff_Bps_ci"][1]
    [line] = result_lines(found, {"mpich": "MPICH"})
    assert line.startswith("MPICH, 2 ranks: b_eff ")


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        ({}, "–"),
        ({"x_Bps": None}, "–"),
        ({"x_Bps": 2e9}, "2 GB/s"),
        ({"x_Bps": 2e9, "x_Bps_ci": None}, "2 GB/s"),
        ({"x_Bps": 2e9, "x_Bps_ci": [1.9e9, 2.02e9]}, "2 GB/s ±5 %"),
        ({"x_Bps": 2e9, "x_Bps_ci": [2e9, 5e9]}, "2 GB/s unknown"),
        ({"x_Bps": 0.0, "x_Bps_ci": [0.0, 1.0]}, "0 B/s"),
    ],
)
def test_cells_are_values_with_their_half_width(row: dict[str, object], cell: str) -> None:
    assert Column("x_Bps", "x", format_rate).cell(row) == cell
    narrow = Column("x_Bps", "x", format_rate, with_interval=False)
    assert narrow.cell(row) == cell.partition(" ±")[0].partition(" unknown")[0]
