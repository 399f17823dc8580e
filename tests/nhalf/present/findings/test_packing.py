"""Data types against packing by hand, from measurements whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding
from nhalf.present.findings.sending import Packing

Measurements = Callable[..., pl.LazyFrame]


def found(make: Measurements, **times: float) -> list[Finding]:
    """Findings where a message takes this many times as long in each way (axis `by`)."""
    frames = [
        make(
            libraries=("mpich",), patterns=("pingpong-layout",), sizes=(64, 4096), noise=0.001,
            launch_noise=0.001, slower={"mpich": slower}, axes=f"by={by},layout=vector",
        )
        for by, slower in times.items()
    ]  # fmt: skip
    data = Facts(pl.concat(frames))
    return list(Packing().find(data))


def test_a_type_that_costs_more_is_told(make_measurements: Measurements) -> None:
    [finding] = found(make_measurements, hand=1.0, type=2.0)
    assert "The data type of a vector takes 2" in finding.text
    assert "significant at 2 of 2 sizes" in finding.text
    assert finding.value == pytest.approx(2.0, rel=0.02)


def test_a_type_that_costs_the_same_or_less_is_not(make_measurements: Measurements) -> None:
    assert found(make_measurements, hand=1.0, type=1.0) == []
    assert found(make_measurements, hand=2.0, type=1.0) == []


def test_conversion_is_told_against_packing_without_it(make_measurements: Measurements) -> None:
    [finding] = found(make_measurements, pack=1.0, external32=3.0)
    assert "Converted to external32, a vector takes 3" in finding.text
    assert (finding.kind, finding.value) == ("external32", pytest.approx(3.0, rel=0.02))
    assert found(make_measurements, pack=1.0, external32=1.0) == []
