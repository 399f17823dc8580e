"""Wrong data are named: by library, operation, sizes and ranks, and by run if there are several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.wrong_data import wrong_data

Make = Callable[..., pl.LazyFrame]
TITLES = {"intel-2021.19.0": "Intel MPI 2021.19.0"}


def gathers(make: Make, sizes: tuple[int, ...], **columns: Any) -> pl.LazyFrame:
    """Points of an operation without a sample, as the probe answers where data arrived wrong."""
    columns = {"verified": False, "samples_s": [], "launches": 2, **columns}
    return make(
        libraries=("intel-2021.19.0",), patterns=("gather-persistent",), sizes=sizes, **columns
    )


def test_the_headline(make_measurements: Make) -> None:
    good = make_measurements(libraries=("intel-2021.19.0",), sizes=(8,))
    facts = Facts(pl.concat([gathers(make_measurements, (1000, 5000)), good]), TITLES, {"run": {}})
    (curve,) = wrong_data(facts)
    assert curve.headline == (
        "WRONG DATA: Intel MPI 2021.19.0, gather-persistent, 1000 B and 5000 B, 2 ranks"
    )
    assert curve.as_json()["sizes_bytes"] == [1000, 5000]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"algorithm": "binomial"}, "gather-persistent/binomial, 8 B, 2 ranks"),
        ({"axes": "place=in"}, "gather-persistent, place=in, 8 B, 2 ranks"),
        ({"ranks": 1}, "gather-persistent, 8 B, 1 rank"),
        ({"transport": "tcp"}, "Intel MPI 2021.19.0 (tcp), gather-persistent, 8 B, 2 ranks"),
    ],
)
def test_what_differs_is_said(make_measurements: Make, columns: dict[str, Any], words: str) -> None:
    facts = Facts(gathers(make_measurements, (8,), **columns), TITLES, {"run": {}})
    assert str(wrong_data(facts)[0]).endswith(words)


def test_many_sizes_are_counted(make_measurements: Make) -> None:
    facts = Facts(gathers(make_measurements, tuple(range(8, 80, 8))), TITLES, {"run": {}})
    assert str(wrong_data(facts)[0]).endswith(
        "gather-persistent, 9 sizes from 8 B to 72 B, 2 ranks"
    )


def test_runs_are_named_where_there_are_several(make_measurements: Make) -> None:
    frames = [gathers(make_measurements, (8,), run=name) for name in ("monday", "tuesday")]
    facts = Facts(pl.concat(frames), TITLES, {"monday": {}, "tuesday": {}})
    assert [str(curve).rpartition(", ")[2] for curve in wrong_data(facts)] == [
        "in monday",
        "in tuesday",
    ]


def test_one_launch_of_many_is_enough(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("mpich",), sizes=(8, 16), launches=5)
    is_wrong = (pl.col("bytes") == 8) & (pl.col("launch") == 3)
    facts = Facts(measured.with_columns(verified=~is_wrong), {}, {"run": {}})
    assert [curve.sizes_bytes for curve in wrong_data(facts)] == [(8,)]
    wrong, right = facts.summary.sort("bytes").to_dicts()
    assert (wrong["verified"], right["verified"]) == (False, True)
    assert wrong["median_s"] != wrong["median_s"]
    assert right["median_s"] > 0
    assert set(facts.launches["bytes"]) == {16}


def test_right_data_say_nothing(make_measurements: Make) -> None:
    assert wrong_data(Facts(make_measurements(), {}, {"run": {}})) == []
