"""The JSON for Extra-P: what its reader looks for, with the medians of launches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.extrap import ExtraP
from nhalf.facts.facts import Facts
from nhalf.machines.machine import Machine
from nhalf.statistics.summary import launch_medians

FactsOf = Callable[[pl.LazyFrame], Facts]
Make = Callable[..., pl.LazyFrame]


def read(text: str) -> dict[str, Any]:
    """As Extra-P's reader does: parameters, then call paths, metrics, points and values."""
    content = json.loads(text)
    assert set(content) == {"parameters", "measurements"}
    assert "callpaths" not in content
    for metrics in content["measurements"].values():
        for points in metrics.values():
            places = [tuple(one["point"]) for one in points]
            assert len(set(places)) == len(places)
            for one in points:
                assert set(one) == {"point", "values"}
                assert len(one["point"]) == len(content["parameters"])
                assert all(isinstance(value, float) for value in one["values"])
    return content  # type: ignore[no-any-return]


def test_points_have_a_value_per_launch(facts_of: FactsOf, make_measurements: Make) -> None:
    frame = pl.concat(
        make_measurements(patterns=("bcast",), sizes=(0, 8), ranks=ranks, launches=3, seed=ranks)
        for ranks in (2, 4)
    )
    content = read(ExtraP().text(facts_of(frame)))
    assert content["parameters"] == ["p", "n"]
    points = content["measurements"]["bcast"]["time"]
    assert [one["point"] for one in points] == [[2, 0], [2, 8], [4, 0], [4, 8]]
    medians = launch_medians(frame)["median_s"].to_list()
    assert [value for one in points for value in one["values"]] == medians


def test_a_parameter_with_one_value_is_none(facts_of: FactsOf, make_measurements: Make) -> None:
    content = read(ExtraP().text(facts_of(make_measurements(sizes=(8, 16)))))
    assert content["parameters"] == ["n"]
    points = content["measurements"]["pingpong"]["time"]
    assert [one["point"] for one in points] == [[8], [16]]


def test_what_is_apart_is_named(facts_of: FactsOf, make_measurements: Make) -> None:
    frame = make_measurements(libraries=("a", "b"), patterns=("pingpong", "ring"), sizes=(8, 16))
    facts = facts_of(frame)
    paths = read(ExtraP().text(facts))["measurements"]
    assert set(paths) == {"pingpong (a)", "pingpong (b)", "ring (a)", "ring (b)"}
    assert set(read(ExtraP(ExportOptions(mpi="b")).text(facts))["measurements"]) == {
        "pingpong",
        "ring",
    }
    with pytest.raises(InputError, match="no sound points"):
        ExtraP(ExportOptions(mpi="c")).text(facts)


def test_wrong_data_is_left_out(facts_of: FactsOf, make_measurements: Make) -> None:
    with pytest.raises(InputError, match="no sound points"):
        ExtraP().text(facts_of(make_measurements(sizes=(8,), verified=False)))


@pytest.mark.parametrize("subject", [None, Machine(name="box")])
def test_a_run_is_needed(subject: Machine | None) -> None:
    with pytest.raises(InputError, match="extrap needs measurements; name the directory"):
        ExtraP().text(subject)
