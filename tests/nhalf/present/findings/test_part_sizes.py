"""The best size of parts of a broadcast, as a finding and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.collectives import PartSizes
from nhalf.present.panels import Table
from nhalf.present.panels.algorithms import PartSizes as Panel

Make = Callable[..., pl.LazyFrame]


def chain(make: Make, slower_by_axes: Mapping[str, float], **columns: object) -> Facts:
    return Facts(
        pl.concat(
            make(
                patterns=("bcast",), sizes=(1 << 20,), ranks=4, algorithm="chain", axes=axes,
                slower={"mpich": slower}, noise=0.002, launch_noise=0.002, **columns,
            )
            for axes, slower in slower_by_axes.items()
        )
    )  # fmt: skip


def test_the_best_size_is_named_with_what_the_usual_one_takes(make_measurements: Make) -> None:
    facts = chain(make_measurements, {"": 2.0, "part=1024": 5.0, "part=32768": 1.0})
    (found,) = PartSizes().find(facts)
    assert "bcast by chain of 1 MiB on 4 ranks is fastest in parts of 32 KiB (" in found.text
    assert "in parts of 8 KiB it takes 2.0x as long" in found.text
    table = Panel().render(facts)
    assert isinstance(table, Table)
    ((*_, size, part, _, saved),) = table.rows
    assert (size, part, saved) == ("1 MiB", "32 KiB", "50 %")


def test_a_long_table_says_how_much_it_leaves_out(make_measurements: Make) -> None:
    sizes = tuple(range(16384, 16384 + 70))
    facts = Facts(
        pl.concat(
            make_measurements(
                patterns=("bcast",), sizes=sizes, ranks=4, algorithm="chain", axes=axes, launches=1
            )
            for axes in ("", "part=1024")
        )
    )
    table = Panel().render(facts)
    assert isinstance(table, Table)
    assert len(table.rows) == 61
    assert table.rows[-1] == ["and 10 more", *[""] * 6]
    assert Table.shortened(["a"], [["1"], ["2"]], 2).rows == [["1"], ["2"]]
    assert Table.shortened(["a"], [], 2).rows == []


@pytest.mark.parametrize(
    "slower_by_axes",
    [
        {"": 1.0, "part=1024": 2.0},
        {"": 1.05, "part=1024": 1.0},
        {"part=1024": 3.0, "part=32768": 1.0},
    ],
    ids=["the usual one is best", "nearly as good", "no usual one"],
)
def test_without_a_gain_there_is_a_table_alone(
    slower_by_axes: Mapping[str, float], make_measurements: Make
) -> None:
    facts = chain(make_measurements, slower_by_axes)
    assert list(PartSizes().find(facts)) == []
    assert isinstance(Panel().render(facts), Table)


@pytest.mark.parametrize(
    "slower_by_axes", [{"": 1.0}, {"": 1.0, "start=barrier": 2.0}, {"part=4096": 1.0}]
)
def test_one_size_is_no_choice(
    slower_by_axes: Mapping[str, float], make_measurements: Make
) -> None:
    facts = chain(make_measurements, slower_by_axes)
    assert list(PartSizes().find(facts)) == []
    assert Panel().render(facts) is None


def test_a_single_launch_is_no_proof(make_measurements: Make) -> None:
    facts = chain(make_measurements, {"": 2.0, "part=32768": 1.0}, launches=1)
    assert list(PartSizes().find(facts)) == []
