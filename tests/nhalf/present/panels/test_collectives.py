"""Panels of collective operations, from measurements whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from tests.nhalf.present.panels.drawing import PANELS, drawn, rows_of, table_of

Make = Callable[..., pl.LazyFrame]
OURS = ("collectives", "collectives-by-ranks", "fastest-by-ranks", "barriers",
        "collective-variants", "started-together", "ranks", "overlap", "algorithms")  # fmt: skip


def together(*frames: pl.LazyFrame) -> Facts:
    return Facts(pl.concat(frames))


@pytest.mark.parametrize("name", OURS)
def test_nothing_is_shown_without_collectives(name: str, make_measurements: Make) -> None:
    assert PANELS[name]().render(together(make_measurements())) is None


def exact(make: Make, **columns: Any) -> pl.LazyFrame:
    return make(noise=0.0, launch_noise=0.0, launches=3, sizes=(4, 5000), **columns)


def test_time_over_size_is_that_of_the_standard_condition(
    make_measurements: Make,
) -> None:
    frame = exact(make_measurements, patterns=("bcast",))
    cold = exact(make_measurements, patterns=("bcast",), axes="buffers=cold")
    rows = rows_of(drawn("collectives", together(frame, cold)))
    assert [(row["bytes"], row["time"]) for row in rows] == [(4, "1 µs"), (5000, "2 µs")]


def test_ranks_are_on_the_axis_where_there_are_several(make_measurements: Make) -> None:
    two = exact(make_measurements, patterns=("bcast",))
    four = exact(make_measurements, patterns=("bcast",), ranks=4, slower={"mpich": 3.0})
    assert PANELS["collectives-by-ranks"]().render(together(two)) is None
    rows = rows_of(drawn("collectives-by-ranks", together(two, four)))
    large = {row["ranks"]: row["time"] for row in rows if row["bytes"] == 5000}
    assert large == {2: "2 µs", 4: "6 µs"}


def test_lines_over_ranks_keep_runs_and_placements_apart(
    make_measurements: Make,
) -> None:
    frames = [
        exact(make_measurements, patterns=("bcast",), ranks=ranks, run=run, placement=placement)
        for ranks in (2, 4)
        for run, placement in (("night", "cores"), ("night", "free"), ("day", "cores"))
    ]
    alone = exact(make_measurements, patterns=("bcast",), ranks=8, run="noon", placement="cores")
    rows = rows_of(drawn("collectives-by-ranks", together(*frames, alone)))
    lines = {"mpich, cores, night", "mpich, free, night", "mpich, cores, day"}
    lines_drawn = [(row["series"], row["bytes"], row["ranks"]) for row in rows]
    assert sorted(lines_drawn) == sorted(
        (line, size, ranks) for line in lines for size in (4, 5000) for ranks in (2, 4)
    )


def test_lines_over_ranks_are_of_some_sizes_of_each_operation(
    make_measurements: Make,
) -> None:
    sizes = {"bcast": range(1, 11), "reduce": range(4, 12, 4)}
    frames = [
        make_measurements(patterns=(pattern,), sizes=tuple(sizes[pattern]), ranks=ranks)
        for pattern in sizes
        for ranks in (2, 4)
    ]
    rows = rows_of(drawn("collectives-by-ranks", together(*frames)))
    lines_drawn = [(row["pattern"], row["bytes"]) for row in rows if row["ranks"] == 4]
    assert lines_drawn == [
        *(("bcast", size) for size in (1, 4, 7, 10)),
        ("reduce", 4),
        ("reduce", 8),
    ]


def test_conditions_are_multiples_of_the_standard(make_measurements: Make) -> None:
    usual = exact(make_measurements, patterns=("allreduce",))
    others = [
        exact(make_measurements, patterns=("allreduce",), axes=axes, slower={"mpich": factor})
        for axes, factor in (("buffers=cold", 2.0), ("start=barrier", 0.5), ("place=in", 1.0))
    ]
    rows = rows_of(drawn("collective-variants", together(usual, *others)))
    ratios = {row["kind"]: row["ratio"] for row in rows}
    assert ratios == {
        "buffers not in cache": 2.0,
        "started after a barrier": 0.5,
        "in place": 1.0,
    }


def test_how_far_a_barrier_misleads(make_measurements: Make) -> None:
    usual = exact(
        make_measurements,
        patterns=("reduce",),
        values=[{"name": "clock_uncertainty_s", "value": 3e-8}],
    )
    barrier = exact(
        make_measurements,
        patterns=("reduce",),
        axes="start=barrier",
        slower={"mpich": 0.25},
        values=[{"name": "true_s", "value": 1.5e-6}],
    )
    table = table_of("started-together", together(usual, barrier))
    assert len(table.rows) == 2
    assert table.rows[-1][2:] == ["4 B", "1 µs", "250 ns", "0.25×", "1.5 µs", "30 ns"] or (
        table.rows[0][2:] == ["4 B", "1 µs", "250 ns", "0.25×", "1.5 µs", "30 ns"]
    )


def test_a_barrier_says_who_leaves_first_and_last(make_measurements: Make) -> None:
    frame = make_measurements(
        patterns=("barrier",), sizes=(0,), noise=0.0, launch_noise=0.0,
        rank_s=[0.4e-6, 1e-6],
    )  # fmt: skip
    [row] = table_of("barriers", together(frame)).rows
    assert row[:4] == ["mpich", "barrier", "2", "1 µs"]
    assert row[5:7] == ["400 ns", "1 µs"]


def test_each_rank_has_its_share_of_the_time(make_measurements: Make) -> None:
    frame = exact(make_measurements, patterns=("bcast",), rank_s=[0.25e-6, 1e-6])
    rows = rows_of(drawn("ranks", together(frame)))
    assert {(row["rank"], row["share"]) for row in rows if row["bytes"] == 4} == {
        (0, 0.25),
        (1, 0.999),
    }


def test_colours_of_ranks_are_those_of_the_largest_pattern(
    make_measurements: Make,
) -> None:
    two = exact(make_measurements, patterns=("bcast",), rank_s=[1e-6] * 2)
    nine = exact(make_measurements, patterns=("allreduce",), rank_s=[1e-6] * 9, ranks=9)
    chart = PANELS["ranks"]().render(together(two, nine))
    assert isinstance(chart, alt.TopLevelMixin)
    color = chart.to_dict()["spec"]["layer"][0]["encoding"]["color"]
    # Labels of the legend beyond the domain would be drawn beyond the chart.
    assert color["scale"]["domain"] == [0, 8]
    assert max(color["legend"]["values"]) <= 8


def test_overlap_comes_from_the_values_of_points_with_work(
    make_measurements: Make,
) -> None:
    pure = exact(make_measurements, patterns=("ibcast",))
    values = [{"name": "overlap", "value": 0.4}, {"name": "pure_s", "value": 5e-7}]
    work = exact(make_measurements, patterns=("ibcast",), axes="work=1", values=values)
    rows = rows_of(drawn("overlap", together(pure, work)))
    assert [(row["overlap"], row["pure"]) for row in rows] == [(0.4, "500 ns")] * 2


def test_algorithms_are_beside_the_own_one_and_not_among_the_operations(
    make_measurements: Make,
) -> None:
    names = {"native": 1.0, "chain": 3.0, "binary": 2.0}
    frames = [
        exact(
            make_measurements, patterns=("bcast", "scan"), algorithm=name, slower={"mpich": factor}
        )
        for name, factor in names.items()
    ]
    alone = exact(make_measurements, patterns=("gather",), algorithm="native")
    data = together(*frames, alone)
    rows = rows_of(drawn("algorithms", data))
    assert {row["pattern"] for row in rows} == {"bcast", "scan"}
    assert {row["series"] for row in rows} == {"mpich"}
    large = {
        row["kind"]: row["time"] for row in rows if (row["pattern"], row["bytes"]) == ("scan", 5000)
    }
    assert large == {"the library's own": "2 µs", "chain": "6 µs", "binary": "4 µs"}
    own = rows_of(drawn("collectives", data))
    assert {(row["series"], row["time"]) for row in own} == {("mpich", "1 µs"), ("mpich", "2 µs")}
    assert PANELS["algorithms"]().render(together(frames[0], alone)) is None
    assert series_names(data) == ["mpich", "mpich, binary", "mpich, chain"]


def test_barriers_are_named_by_their_algorithm(make_measurements: Make) -> None:
    frames = [
        exact(make_measurements, patterns=(pattern,), algorithm=name, slower={"mpich": factor})
        for pattern, name, factor in (
            ("barrier", "native", 1.0), ("barrier", "central", 2.0), ("ibarrier", "native", 3.0)
        )
    ]  # fmt: skip
    kinds = [row[1] for row in table_of("barriers", together(*frames)).rows]
    assert sorted(set(kinds)) == ["barrier", "central", "non-blocking"]


def test_the_fastest_library_is_named_by_size_and_ranks(make_measurements: Make) -> None:
    """A is 2x as fast in bcast on 2 ranks, B 3x on 4 ranks; barriers are alike."""
    libraries = ("a", "b")
    frames = [
        exact(make_measurements, libraries=libraries, patterns=("bcast",), ranks=2,
              slower={"b": 2.0}),
        exact(make_measurements, libraries=libraries, patterns=("bcast",), ranks=4,
              slower={"a": 3.0}),
        make_measurements(libraries=libraries, patterns=("barrier",), ranks=4, sizes=(0,),
                          launches=3, noise=0.0, launch_noise=0.0),
    ]  # fmt: skip
    facts = Facts(pl.concat(frames), {"a": "A 1", "b": "B 1"})
    table = table_of("fastest-by-ranks", facts)
    assert table.columns == ["operation", "sizes", "2 ranks", "4 ranks"]
    assert table.rows == [
        ["barrier", "–", "–", "not told apart"],
        ["bcast", "4 B", "A 1, 2.0x", "B 1, 3.0x"],
        ["bcast", "5000 B", "A 1, 2.0x", "B 1, 3.0x"],
    ]


def test_placements_of_equal_ranks_have_columns_of_their_own(make_measurements: Make) -> None:
    """Of three libraries, two are equally fast; on two hosts one is slower."""
    frames = [
        exact(make_measurements, libraries=("a", "b", "c"), patterns=("bcast",),
              placement=placement, slower=slower)
        for placement, slower in (("1x2", {"c": 2.0}), ("2x1", {"b": 1.5, "c": 2.0}))
    ]  # fmt: skip
    table = table_of("fastest-by-ranks", together(*frames))
    assert table.columns[2:] == ["2 ranks, 1x2", "2 ranks, 2x1"]
    assert [row[2:] for row in table.rows] == [["a or b, 2.0x", "a, 1.50x"]] * 2


def test_several_runs_have_columns_of_their_own(make_measurements: Make) -> None:
    libraries = ("a", "b")
    frames = [
        exact(make_measurements, libraries=libraries, patterns=("bcast",), run=run, slower=slower)
        for run, slower in (("day", {"a": 2.0}), ("night", {"b": 3.0}))
    ]
    table = table_of("fastest-by-ranks", together(*frames))
    assert table.columns[2:] == ["day, 2 ranks", "night, 2 ranks"]
    assert [row[2:] for row in table.rows] == [["b, 2.0x", "a, 3.0x"]] * 2


def test_one_library_alone_is_not_the_fastest(make_measurements: Make) -> None:
    alone = exact(make_measurements, patterns=("bcast",))
    assert PANELS["fastest-by-ranks"]().render(Facts(alone)) is None
