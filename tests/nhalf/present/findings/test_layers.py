"""What a library adds to the layer below it: finding, picture and table."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import polars as pl
import pytest

from nhalf.facts.contests import against_layers, has_layers
from nhalf.facts.facts import Facts
from nhalf.present.findings.messages import Layers as Finder
from nhalf.present.panels import Table
from nhalf.present.panels.messages import Layers as Panel
from nhalf.present.panels.messages import LayerTable

Make = Callable[..., pl.LazyFrame]
QUIET = {"noise": 0.002, "launch_noise": 0.002, "sizes": (8, 1024, 65536)}


def facts_of(make: Make, factors: dict[str, float], **more: object) -> Facts:
    """Each transport takes this many times what the synthetic machine does; mpi goes by library."""
    frames = []
    for seed, (transport, factor) in enumerate(factors.items(), start=1):
        mpi = "mpich" if transport == "mpi" else ""
        given = {**QUIET, "seed": seed, **more}
        frames.append(make(libraries=(mpi,), slower={mpi: factor}, transport=transport, **given))
    return Facts(pl.concat(frames), {"mpich": "MPICH 5"})


def test_a_library_is_compared_with_the_quickest_layer(make_measurements: Make) -> None:
    facts = facts_of(make_measurements, {"mpi": 2.0, "shm": 1.0, "tcp": 8.0})
    (found,) = Finder().find(facts)
    assert found.text.startswith("MPICH 5: of the 2 µs of a message of 8 B, shm alone takes 1 µs;")
    assert "50 % (interval " in found.text
    assert "of a message of 64 KiB" in found.text
    assert found.low <= 0.5 <= found.high
    assert found.figure == "50 %"


@pytest.mark.parametrize("factors", [{"mpi": 1.0, "shm": 1.0}, {"mpi": 0.5, "shm": 1.0}])
def test_nothing_is_said_of_a_library_that_is_not_slower(
    make_measurements: Make, factors: dict[str, float]
) -> None:
    assert list(Finder().find(facts_of(make_measurements, factors))) == []


def test_nothing_is_said_without_certainty(make_measurements: Make) -> None:
    noisy = facts_of(make_measurements, {"mpi": 1.3, "shm": 1.0}, launch_noise=0.5)
    assert list(Finder().find(noisy)) == []
    once = facts_of(make_measurements, {"mpi": 2.0, "shm": 1.0}, launches=1)
    assert list(Finder().find(once)) == []


@pytest.mark.parametrize("other", ["model", "threads", "simulated"])
def test_other_processes_and_machines_are_no_layers(make_measurements: Make, other: str) -> None:
    facts = facts_of(make_measurements, {"mpi": 2.0, other: 1.0})
    assert not has_layers(facts)
    assert list(Finder().find(facts)) == []
    assert Panel().render(facts) is None
    assert LayerTable().render(facts) is None


def test_ratios_are_to_the_quickest_layer_of_the_same_launch(make_measurements: Make) -> None:
    facts = facts_of(make_measurements, {"mpi": 2.0, "shm": 1.0, "tcp+big": 8.0})
    middle = against_layers(facts).group_by("label").agg(pl.col("ratio").median().round(1))
    assert dict(middle.iter_rows()) == {"MPICH 5": 2.0, "shm": 1.0, "tcp+big": 8.0}


def test_the_picture_has_a_line_for_each(make_measurements: Make) -> None:
    chart = Panel().render(facts_of(make_measurements, {"mpi": 2.0, "shm": 1.0, "pvm": 9.0}))
    assert isinstance(chart, alt.TopLevelMixin)
    assert {"MPICH 5", "shm", "pvm"} <= set(str(chart.to_dict()).replace("'", "\n").split("\n"))


def test_what_has_no_size_has_no_line_and_other_patterns_have_none(
    make_measurements: Make,
) -> None:
    patterns = ("pingpong", "bcast", "barrier", "pingpong-ssend")
    chart = Panel().render(facts_of(make_measurements, {"mpi": 2.0, "shm": 1.0}, patterns=patterns))
    assert isinstance(chart, alt.TopLevelMixin)
    (rows,) = chart.to_dict()["datasets"].values()
    assert {row["series"] for row in rows} == {"pingpong", "bcast"}


def test_windows_of_a_library_have_its_name_once_and_numbers(make_measurements: Make) -> None:
    windows = make_measurements(libraries=("mpich",), transport="rma", **QUIET)
    layer = make_measurements(libraries=("",), transport="shm", **QUIET)
    table = LayerTable().render(Facts(pl.concat([windows, layer]), {"mpich": "MPICH 5"}))
    assert isinstance(table, Table)
    latencies = {row[0]: row[1] for row in table.rows}
    assert latencies.keys() == {"MPICH 5, rma", "shm"}
    assert "–" not in latencies.values()


def test_the_table_has_a_row_for_each(make_measurements: Make) -> None:
    patterns = ("pingpong", "bcast", "barrier")
    exact = {"noise": 0.0, "launch_noise": 0.0, "patterns": patterns}
    factors = {"mpi": 2.0, "shm": 1.0, "shm+x": 4.0}
    table = LayerTable().render(facts_of(make_measurements, factors, **exact))
    assert isinstance(table, Table)
    assert table.columns[4:] == ["bcast, 2 ranks, 8 B", "barrier, 2 ranks, 8 B"]
    latencies = {row[0]: row[1] for row in table.rows}
    assert latencies == {"MPICH 5": "2 µs", "shm": "1 µs", "shm+x": "4.01 µs"}
    assert all("–" not in row for row in table.rows)


def test_a_layer_whose_name_begins_another_one_has_numbers_of_its_own(
    make_measurements: Make,
) -> None:
    exact = {"noise": 0.0, "launch_noise": 0.0}
    alone = facts_of(make_measurements, {"shm": 1.0}, patterns=("bcast",), **exact)
    other = facts_of(make_measurements, {"shmem": 2.0}, **exact)
    table = LayerTable().render(Facts(pl.concat([alone.measurements, other.measurements])))
    assert isinstance(table, Table)
    assert {row[0]: row[1] for row in table.rows} == {"shm": "–", "shmem": "2 µs"}
