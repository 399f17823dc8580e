# SPDX-License-Identifier: Apache-2.0
"""Panels of traffic between many ranks, and what they leave to each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pytest
import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.distance import relation
from nhalf.facts.facts import Facts
from nhalf.facts.series import plain, series_names
from nhalf.present.charts.lines import some_sizes
from nhalf.present.findings import findings
from nhalf.present.panels import Panel, Table
from nhalf.store.places import Place

Make = Callable[..., pl.LazyFrame]
PANELS = load("nhalf.present.panels", Panel)
QUIET = {"noise": 0.0, "launch_noise": 0.0}


def points(make: Make, pattern: str, axes: Iterable[str], **more: Any) -> pl.LazyFrame:
    """A pattern at several values of its axes, times growing by a tenth from one to the next."""
    frames = []
    for number, text in enumerate(axes):
        sizes = more.get("sizes", (8, 65536))
        given = {"rank_s": [1e-6] * more.get("ranks", 4), **QUIET, **more}
        frame = make(patterns=(pattern,), axes=text, **{**given, "sizes": sizes})
        scaled = pl.col("samples_s").list.eval(pl.element() * (1 + number / 10))
        frames.append(frame.with_columns(samples_s=scaled))
    return pl.concat(frames)


def pairs_of_ranks(ranks: int) -> list[str]:
    return [f"first={i},second={j}" for i in range(ranks) for j in range(i + 1, ranks)]


def data_of(measured: pl.LazyFrame, **more: Any) -> Facts:
    return Facts(measured, **more)


def drawn(name: str, data: Facts) -> dict[str, Any]:
    chart = PANELS[name]().render(data)
    assert chart is not None
    assert not isinstance(chart, Table)
    spec: dict[str, Any] = chart.to_dict()
    json.dumps(spec, allow_nan=False)
    vl_convert.vegalite_to_svg({**spec, "width": 400} if "width" in spec else spec)
    return spec


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    found = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return found + list(spec.get("data", {}).get("values", []))


def test_points_with_axes_and_of_many_ranks_are_no_curves(make_measurements: Make) -> None:
    measured = pl.concat(
        [
            make_measurements(patterns=("pingpong", "pingpong-ssend"), sizes=(1, 8)),
            points(make_measurements, "distance", pairs_of_ranks(4)),
            points(make_measurements, "many-to-one", [""]),
            make_measurements(patterns=("allreduce",), sizes=(8,)),
            make_measurements(patterns=("stream",), sizes=(8,), axes="window=4"),
        ]
    )
    data = data_of(measured)
    kept = plain(data.summary, data)
    assert set(kept["pattern"]) == {"pingpong", "pingpong-ssend"}
    assert set(plain(data.launches, data)["pattern"]) == {"pingpong", "pingpong-ssend"}
    for name in ("latency", "bandwidth"):
        assert {row["pattern"] for row in rows_of(drawn(name, data))} <= set(kept["pattern"])


def test_axes_do_not_make_series_of_their_own(make_measurements: Make) -> None:
    data = data_of(points(make_measurements, "distance", pairs_of_ranks(5)))
    assert series_names(data) == ["mpich"]


def test_legend_holds_what_is_drawn_and_colours_stay(make_measurements: Make) -> None:
    two = make_measurements(libraries=("b",), sizes=(8,))
    many = make_measurements(libraries=("a", "b"), patterns=("allreduce",), sizes=(8,))
    data = data_of(pl.concat([two, many]))
    color = drawn("latency", data)["layer"][0]["encoding"]["color"]
    assert color["scale"]["domain"] == ["a", "b"]
    assert color["legend"]["values"] == ["b"]


def test_distance_has_a_cell_for_every_pair_and_size(make_measurements: Make) -> None:
    data = data_of(points(make_measurements, "distance", pairs_of_ranks(4)))
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
    spec = drawn("distance", data_of(measured))
    marks = [layer["mark"]["type"] for layer in spec["spec"]["layer"]]
    assert len(marks) == layers
    assert ("text" in marks) == (ranks <= 8)


def test_what_was_measured_both_ways_is_drawn_as_it_is(make_measurements: Make) -> None:
    both = ["first=0,second=1", "first=1,second=0"]
    spec = drawn("distance", data_of(points(make_measurements, "distance", both)))
    assert [layer["mark"]["type"] for layer in spec["spec"]["layer"]] == ["rect", "text"]


def test_one_pair_is_no_distance(make_measurements: Make) -> None:
    data = data_of(points(make_measurements, "distance", ["first=0,second=1"]))
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
    spec = drawn("distance", data_of(measured, find_places=lambda: found))
    assert rows_of(spec)[0]["where"].startswith(where)
    label = spec["spec"]["layer"][0]["encoding"]["y"]["axis"]["labelExpr"]
    assert json.loads(label.partition("[datum")[0])[:2] == names


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (Place("a", 1, [1]), Place("b", 1, [1]), "different hosts"),
        (Place("a", 1, [1, 2]), Place("a", 1, [1]), "same host"),
        (Place("a", 1, [1]), Place("a", 1, [1]), "same core"),
        (Place("a", 1, [1]), Place("a", 2, [2]), "same memory domain"),
        (Place("a", 1, [1]), Place("a", 2, [2], 1), "same host, other memory domain"),
    ],
)
def test_relation_is_said_as_far_as_it_is_certain(one: Place, other: Place, said: str) -> None:
    assert relation(one, other) == said


def test_load_is_relative_to_one_pair_in_the_same_launch(make_measurements: Make) -> None:
    axes = ["pairs=1", "pairs=2", "pairs=4"]
    measured = points(make_measurements, "pairs-latency", axes, ranks=8, sizes=(8,))
    rows = rows_of(drawn("load", data_of(measured)))
    assert {row["pairs"]: row["ratio"] for row in rows} == pytest.approx({1: 1, 2: 1.1, 4: 1.2})


def test_load_needs_one_pair_alone_and_several(make_measurements: Make) -> None:
    for axes in (["pairs=1"], ["pairs=2", "pairs=4"]):
        data = data_of(points(make_measurements, "pairs-latency", axes, ranks=8))
        assert PANELS["load"]().render(data) is None


def test_bandwidth_of_pairs_is_that_of_all(make_measurements: Make) -> None:
    axes = ["pairs=1", "pairs=2"]
    measured = points(
        make_measurements, "pairs-bandwidth", axes, sizes=(5000,), bytes_per_time=10000
    )
    rows = rows_of(drawn("load-bandwidth", data_of(measured)))
    assert [row["rate"] for row in rows] == pytest.approx([5e9, 5e9 / 1.1], rel=1e-3)
    assert rows[1]["each"] == "2.27 GB/s"


def test_fans_are_shown_per_message_of_a_process(make_measurements: Make) -> None:
    patterns = ("one-to-many", "many-to-one", "many-to-many")
    measured = make_measurements(
        patterns=patterns, sizes=(0, 5000), ranks=5, rank_s=[1e-6] * 5, **QUIET
    )
    rows = rows_of(drawn("fan", data_of(measured)))
    assert {row["kind"] for row in rows} == {"one to many", "many to one", "many to many"}
    assert {row["bytes"]: row["per_message"] for row in rows} == pytest.approx(
        {0: 0.25e-6, 5000: 0.5e-6}
    )


def test_the_time_of_the_one_rank_stands_beside_that_of_all(make_measurements: Make) -> None:
    measured = make_measurements(
        patterns=("one-to-many",), sizes=(5000,), ranks=5, rank_s=[2e-6] * 5,
        values=[{"name": "root_s", "value": 0.8e-6}], **QUIET,
    )  # fmt: skip
    rows = {row["kind"]: row for row in rows_of(drawn("fan", data_of(measured)))}
    assert rows["one to many"]["per_message"] == pytest.approx(0.5e-6)
    own = rows["one to many, the one's own time"]
    assert own["per_message"] == pytest.approx(0.2e-6)
    assert own["round"] == "800 ns"


def test_dense_traffic_has_a_facet_per_pattern_and_a_choice_of_library(
    make_measurements: Make,
) -> None:
    phases = ["phase=1", "phase=2", "phase=3"]
    patterns = ["dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random"]
    measured = pl.concat(
        [
            points(make_measurements, pattern, phases, libraries=("a", "b"), bytes_per_time=20000)
            for pattern in patterns
        ]
    )
    spec = drawn("dense", data_of(measured))
    rows = rows_of(spec)
    assert len({row["pattern"] for row in rows}) == 4
    assert {row["phase"] for row in rows} == {1, 2, 3}
    (chosen,) = [p for p in spec["params"] if p["name"] == "chosen"]
    assert chosen["bind"]["options"] == ["a", "b"]


def test_processes_that_wait_do_not_make_a_phase_slow(make_measurements: Make) -> None:
    """Among 64 ranks all pair at distance 1, two at distance 63; each sends the same."""
    sends = {"phase=1": 64, "phase=32": 64, "phase=63": 2}
    measured = pl.concat(
        make_measurements(
            patterns=("dense-pairwise",), axes=phase, sizes=(4096,), ranks=64,
            rank_s=[1e-6] * 64, bytes_per_time=4096 * active, seed=place, **QUIET,
        )
        for place, (phase, active) in enumerate(sends.items())
    )  # fmt: skip
    data = data_of(measured)
    spec = drawn("dense", data)
    rows = {row["phase"]: row for row in rows_of(spec)}
    assert {row["rate"] for row in rows.values()} == {rows[1]["rate"]}
    assert rows[1]["rate"] == pytest.approx(4096 / (1e-6 + 4096 / 5e9), rel=1e-3)
    assert rows[63]["active"] == "2 of 64"
    assert [one for one in findings(data) if one.kind == "slowest-phase"] == []


def test_the_phase_with_a_narrow_path_is_a_finding(make_measurements: Make) -> None:
    measured = pl.concat(
        make_measurements(
            patterns=("dense-alltoall",), axes=f"phase={phase}", sizes=(8, 4096), ranks=64,
            rank_s=[1e-6] * 64, bytes_per_time=4096 * 64, slower={"mpich": slower}, seed=phase,
        )
        for phase, slower in ((1, 1.0), (32, 3.0), (63, 1.1))
    )  # fmt: skip
    (found,) = (one for one in findings(data_of(measured)) if one.kind == "slowest-phase")
    assert found.low <= 3 <= found.high
    assert found.text.startswith(
        "mpich, 64 ranks, dense-alltoall of 4 KiB: each process that takes part sends "
    )
    assert " at distance 32 and 2." in found.text
    assert " GB/s at distance 1, " in found.text


def test_phases_in_noise_are_no_finding(make_measurements: Make) -> None:
    measured = pl.concat(
        make_measurements(
            patterns=("dense-alltoall",), axes=f"phase={phase}", sizes=(4096,), ranks=8,
            rank_s=[1e-6] * 8, bytes_per_time=4096 * 8, launch_noise=0.2, seed=phase,
        )
        for phase in range(1, 8)
    )  # fmt: skip
    assert [one for one in findings(data_of(measured)) if one.kind == "slowest-phase"] == []


@pytest.mark.parametrize("name", ["distance", "load", "load-bandwidth", "fan", "dense"])
def test_other_traffic_is_no_matter_of_these_panels(name: str, make_measurements: Make) -> None:
    measured = make_measurements(patterns=("pingpong", "allreduce"))
    assert PANELS[name]().render(data_of(measured)) is None


def test_sizes_shown_are_first_last_and_between() -> None:
    assert some_sizes([]) == []
    assert some_sizes([8, 0, 8]) == [0, 8]
    assert some_sizes(list(range(100))) == [0, 25, 50, 74, 99]
