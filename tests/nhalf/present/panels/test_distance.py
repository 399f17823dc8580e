"""Panels of the distance between ranks."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.store.places import Place
from tests.nhalf.present.panels.drawing import PANELS, drawn, rows_of
from tests.nhalf.present.panels.points import pairs_of_ranks, points

Make = Callable[..., pl.LazyFrame]


def test_distance_has_a_cell_for_every_pair_and_size(make_measurements: Make) -> None:
    data = Facts(points(make_measurements, "distance", pairs_of_ranks(4)))
    rows = rows_of(drawn("distance", data))
    assert len(rows) == 2 * 6
    small = [row for row in rows if row["choice"] == "8 B: time in µs"]
    large = [row for row in rows if row["choice"] == "64 KiB: rate in GB/s"]
    assert len(small) == len(large) == 6
    assert [row["ratio"] for row in small] == pytest.approx([1, 1.1, 1.2, 1.3, 1.4, 1.5], rel=1e-3)
    assert small[0]["text"] == "1"
    # 65536 B at 5 GB/s after 1 µs: 14.1 µs, 4.65 GB/s.
    assert large[0]["text"] == "4.65"
    assert {row["where"] for row in rows} == {"not known"}


@pytest.mark.parametrize(("ranks", "layers"), [(3, 4), (8, 4), (9, 2)])
def test_cells_hold_numbers_where_there_is_room(
    ranks: int, layers: int, make_measurements: Make
) -> None:
    measured = points(make_measurements, "distance", pairs_of_ranks(ranks), launches=1, samples=2)
    spec = drawn("distance", Facts(measured))
    marks = [layer["mark"]["type"] for layer in spec["spec"]["layer"]]
    assert len(marks) == layers
    assert ("text" in marks) == (ranks <= 8)


def test_what_was_measured_both_ways_is_drawn_as_it_is(make_measurements: Make) -> None:
    both = ["first=0,second=1", "first=1,second=0"]
    spec = drawn("distance", Facts(points(make_measurements, "distance", both)))
    assert [layer["mark"]["type"] for layer in spec["spec"]["layer"]] == ["rect", "text"]


def test_one_pair_is_no_distance(make_measurements: Make) -> None:
    data = Facts(points(make_measurements, "distance", ["first=0,second=1"]))
    assert PANELS["distance"]().render(data) is None


@pytest.mark.parametrize(
    ("hosts", "names", "where"),
    [
        (("n", "n"), ["0 · core 4", "1 · core 5"], "core 4 of n and core 5 of n: same memory"),
        (("n1.x", "n2.x"), ["0 · n1", "1 · n2"], "core 4 of n1.x and core 5 of n2.x: different"),
    ],
)
def test_distance_says_where_ranks_were(
    hosts: tuple[str, str], names: list[str], where: str, make_measurements: Make
) -> None:
    places = [Place(host, 4 + rank, [4 + rank]) for rank, host in enumerate((*hosts, hosts[1]))]
    measured = points(make_measurements, "distance", pairs_of_ranks(3), ranks=3)
    found = {"run": {("mpich", 3, ""): places}}
    spec = drawn("distance", Facts(measured, find_places=lambda: found))
    assert rows_of(spec)[0]["where"].startswith(where)
    label = spec["spec"]["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    assert json.loads(label.partition("[datum")[0])[:2] == names
