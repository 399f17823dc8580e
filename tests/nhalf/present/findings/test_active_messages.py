from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding
from nhalf.present.findings.sending import ActiveMessages
from nhalf.present.panels import Table
from nhalf.present.panels.sending import ActiveMessages as Ways

Make = Callable[..., pl.LazyFrame]
EXACT: dict[str, Any] = {
    "libraries": ("",), "transport": "am", "noise": 0.001, "launch_noise": 0.001, "launches": 5,
}  # fmt: skip
SIZES = (8, 64, 1024, 8192, 65536)


def points(make: Make, pattern: str, axes: str, times_s: Mapping[int, float]) -> pl.DataFrame:
    """Measurements of a pattern that takes the given time at each size."""
    frames = []
    for seed, (size, time_s) in enumerate(times_s.items()):
        frame = make(patterns=(pattern,), axes=axes, sizes=(size,), seed=seed, **EXACT).collect()
        scaled = pl.element() / pl.element().median() * time_s
        frames.append(frame.with_columns(samples_s=pl.col("samples_s").list.eval(scaled)))
    return pl.concat(frames)


def found(*frames: pl.DataFrame) -> list[Finding]:
    return list(ActiveMessages().find(Facts(pl.concat(frames).lazy())))


def test_a_short_message_is_named_beside_every_library(make_measurements: Make) -> None:
    short = points(make_measurements, "am-short", "", {0: 1e-7})
    slow, fast = (
        points(make_measurements, "pingpong", "", {0: time_s, 8: 1e-3}).with_columns(
            mpi=pl.lit(name), transport=pl.lit("mpi")
        )
        for name, time_s in (("openmpi", 5e-7), ("mpich", 3e-7))
    )
    (one,) = found(short, slow, fast)
    assert one.text.startswith("A short active message takes 100 ns one way on am; the smallest ")
    assert "of mpich takes 300 ns, 3.0x the time" in one.text
    assert "; also openmpi 5.0x. GASNet on SCI published 3.28 µs" in one.text
    assert one.value == pytest.approx(3, rel=0.01)


def test_the_crossover_comes_from_the_data(make_measurements: Make) -> None:
    stores = points(make_measurements, "am-long", "copy=stores", dict.fromkeys(SIZES, 1e-6))
    factors = zip(SIZES, (1.3, 1.2, 1.0, 0.8, 0.5), strict=True)
    bulk = points(
        make_measurements, "am-long", "copy=bulk", {size: 1e-6 * factor for size, factor in factors}
    )
    (one,) = found(stores, bulk)
    assert "stores are faster up to 64 B, bulk copies from 8 KiB on" in one.text
    assert "at 8 KiB a bulk copy takes 0.80x the time of stores" in one.text
    assert one.remedy.endswith('am.stores=64".')
    (never,) = found(
        stores,
        points(make_measurements, "am-long", "copy=bulk", dict.fromkeys(SIZES, 2e-6)),
    )
    assert "stores are faster up to 64 KiB, bulk copies nowhere" in never.text
    assert never.remedy == ""
    (always,) = found(
        stores, points(make_measurements, "am-long", "copy=bulk", dict.fromkeys(SIZES, 5e-7))
    )
    assert "bulk copies are faster from 8 B on, stores nowhere" in always.text


def test_no_crossover_is_claimed_where_there_are_several_or_none(make_measurements: Make) -> None:
    stores = points(make_measurements, "am-long", "copy=stores", dict.fromkeys(SIZES, 1e-6))
    for factors in ((0.5, 2, 2, 0.5, 2), (1, 1, 1, 1, 1)):
        times_s = {size: 1e-6 * factor for size, factor in zip(SIZES, factors, strict=True)}
        assert found(stores, points(make_measurements, "am-long", "copy=bulk", times_s)) == []


@pytest.mark.parametrize(
    ("pattern", "standard", "axes", "words"),
    [
        ("am-medium", "", "method=one-transfer", "Medium active messages that are copied behind"),
        ("am-first", "", "import=demand", "mapped on demand, with its reply, takes 2.0x the time"),
        ("am-short", "", "polling=flag", "to a rank that looks at one flag that all raise"),
        ("am-long", "copy=stores", "copy=bulk-each", "bulk copies that are connected for each of"),
    ],
)
def test_a_way_that_costs_is_named_and_one_that_does_not_is_not(
    pattern: str, standard: str, axes: str, words: str, make_measurements: Make
) -> None:
    plain = points(make_measurements, pattern, standard, {64: 1e-6})
    (one,) = found(plain, points(make_measurements, pattern, axes, {64: 2e-6}))
    assert words in one.text
    assert "2.0x the time of" in one.text
    assert found(plain, points(make_measurements, pattern, axes, {64: 1.01e-6})) == []


def test_payloads_that_travel_in_the_line_are_not_judged(make_measurements: Make) -> None:
    plain = points(make_measurements, "am-medium", "", {8: 1e-6})
    copied = points(make_measurements, "am-medium", "method=one-transfer", {8: 2e-6})
    assert found(plain, copied) == []


def test_the_panel_draws_each_way_relative_to_the_plain_one(make_measurements: Make) -> None:
    frames = [
        points(make_measurements, "am-long", f"copy={way}", dict.fromkeys(SIZES, time_s))
        for way, time_s in (("stores", 1e-6), ("bulk", 2e-6), ("bulk-each", 4e-6))
    ]
    chart = Ways().render(Facts(pl.concat(frames).lazy()))
    assert chart is not None
    assert not isinstance(chart, Table)
    (rows,) = chart.to_dict()["datasets"].values()
    assert {(row["kind"], round(row["ratio"], 1)) for row in rows} == {
        ("long: bulk copy, connected once", 2.0),
        ("long: bulk copy, connected each time", 4.0),
    }


def test_without_active_messages_there_is_nothing(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(8, 64)))
    assert list(ActiveMessages().find(facts)) == []
    assert Ways().render(facts) is None
