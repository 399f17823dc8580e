"""Data types against packing by hand, from measurements whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding, findings

Measurements = Callable[..., pl.LazyFrame]


def found(make: Measurements, by_hand: float, by_type: float) -> list[Finding]:
    """Findings where a message takes this many times as long by hand, and by a type."""
    frames = [
        make(
            libraries=("mpich",), patterns=("pingpong-layout",), sizes=(64, 4096), noise=0.001,
            launch_noise=0.001, slower={"mpich": slower}, axes=f"by={by},layout=vector",
        )
        for by, slower in (("hand", by_hand), ("type", by_type))
    ]  # fmt: skip
    data = Facts(pl.concat(frames))
    return [finding for finding in findings(data) if finding.kind == "packing"]


def test_a_type_that_costs_more_is_told(make_measurements: Measurements) -> None:
    [finding] = found(make_measurements, 1.0, 2.0)
    assert "The data type of a vector takes 2" in finding.text
    assert "significant at 2 of 2 sizes" in finding.text
    assert finding.value == pytest.approx(2.0, rel=0.02)


def test_a_type_that_costs_the_same_or_less_is_not(make_measurements: Measurements) -> None:
    assert found(make_measurements, 1.0, 1.0) == []
    assert found(make_measurements, 2.0, 1.0) == []
