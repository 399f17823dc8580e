from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.memory import rates
from nhalf.present.findings.memory import ArrayAccess
from nhalf.present.panels import Table
from nhalf.present.panels.node import Memory

Make = Callable[..., pl.LazyFrame]
EXACT: dict[str, Any] = {
    "libraries": ("",), "transport": "threads", "rank_s": [1e-3, 1e-3], "sizes": (1 << 20, 1 << 30),
    "noise": 0.001, "launch_noise": 0.001,
}  # fmt: skip


def measured(make: Make, factors: Mapping[str, float], **more: Any) -> Facts:
    """Triad in ordinary arrays, and in shared ones by each access that many times as slow."""
    asked = {**EXACT, **more}
    frames = [make(patterns=("memory-triad",), seed=99, **asked)]
    for seed, (axes, factor) in enumerate(factors.items()):
        frame = make(patterns=("array-triad",), axes=axes, seed=seed, **asked)
        scaled = pl.col("samples_s").list.eval(pl.element() * factor)
        frames.append(frame.with_columns(samples_s=scaled))
    return Facts(pl.concat(frames))


def test_the_dearest_access_is_named_beside_casts(make_measurements: Make) -> None:
    factors = {"access=cast": 1.0, "access=pointer": 1.5, "access=for-all,block=64": 2.5}
    (found,) = ArrayAccess().find(measured(make_measurements, factors))
    assert found.low <= 2.5 <= found.high
    assert found.size_bytes == 1 << 30
    assert found.text.startswith(
        "Shared arrays, by index, blocks of 64: triad of 1 GiB takes 2.5x the time of ordinary"
    )
    assert "; casts take 1.00x (interval " in found.text
    assert found.text.endswith("): as fast.")
    assert found.remedy.startswith("Cast to ordinary pointers")


def test_casts_in_the_same_blocks_are_named_where_there_are_no_others(
    make_measurements: Make,
) -> None:
    factors = {"access=cast,block=64": 1.0, "access=for-all,block=64": 2.5}
    (found,) = ArrayAccess().find(measured(make_measurements, factors))
    assert "; casts take 1.00x" in found.text


def test_casts_that_are_no_better_are_no_remedy(make_measurements: Make) -> None:
    (found,) = ArrayAccess().find(
        measured(make_measurements, {"access=cast": 1.6, "access=pointer": 1.5})
    )
    assert found.remedy == ""
    assert "as fast" not in found.text


@pytest.mark.parametrize(
    "factors", [{"access=cast": 1.0, "access=pointer": 1.02}, {"access=cast": 2.0}, {}]
)
def test_ways_that_cost_nothing_are_no_finding(
    factors: dict[str, float], make_measurements: Make
) -> None:
    assert list(ArrayAccess().find(measured(make_measurements, factors))) == []


def test_one_launch_and_shared_arrays_alone_say_nothing(make_measurements: Make) -> None:
    assert not list(
        ArrayAccess().find(measured(make_measurements, {"access=pointer": 3.0}, launches=1))
    )
    alone = make_measurements(patterns=("array-triad",), axes="access=pointer", **EXACT)
    assert not list(ArrayAccess().find(Facts(alone)))


def test_rates_are_those_of_the_largest_arrays_by_way_and_ranks(make_measurements: Make) -> None:
    factors = {"access=cast": 1.0, "access=for-all,block=64": 2.0}
    both = [measured(make_measurements, factors, ranks=ranks).measurements for ranks in (1, 2)]
    points = rates(Facts(pl.concat(both)))
    assert set(points["bytes"]) == {1 << 30}
    assert set(points["series"]) == {"threads"}
    assert sorted(points.select("way", "block", "ranks").rows()) == [
        ("cast", "even", 1),
        ("cast", "even", 2),
        ("for-all", "64", 1),
        ("for-all", "64", 2),
        ("ordinary", "even", 1),
        ("ordinary", "even", 2),
    ]


def test_threads_of_a_rank_are_cores_and_no_standard(make_measurements: Make) -> None:
    data = measured(make_measurements, {"access=pointer": 3.0}, ranks=1)
    openmp = make_measurements(
        patterns=("memory-triad",), axes="threads=all", **{**EXACT, "ranks": 1, "placement": "free"}
    ).with_columns(values=pl.lit([{"name": "threads", "value": 4.0}]))
    columns = data.measurements.collect_schema()
    both = Facts(pl.concat([data.measurements, openmp.cast({"values": columns["values"]})]))
    assert set(rates(both)["series"]) == {"threads"}
    points = rates(both).filter(way="openmp")
    assert points.select("ranks", "cores").rows() == [(1, 4)]
    (found,) = ArrayAccess().find(both)
    assert found.low <= 3.0 <= found.high


def test_the_panel_draws_a_line_for_every_way(make_measurements: Make) -> None:
    factors = {"access=cast": 1.0, "access=for-all,block=64": 2.0}
    both = [measured(make_measurements, factors, ranks=ranks).measurements for ranks in (1, 2)]
    chart = Memory().render(Facts(pl.concat(both)))
    assert chart is not None
    assert not isinstance(chart, Table)
    (rows,) = chart.to_dict()["datasets"].values()
    assert list(dict.fromkeys(row["kind"] for row in rows)) == [
        "ordinary arrays",
        "casts",
        "by index, blocks of 64",
    ]
    assert {row["ranks"] for row in rows} == {1, 2}


def test_there_is_no_panel_without_these_patterns(make_measurements: Make) -> None:
    assert Memory().render(Facts(make_measurements(sizes=(8, 64)))) is None
