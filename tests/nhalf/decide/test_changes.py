# SPDX-License-Identifier: Apache-2.0
"""What a comparison can tell at all."""

from __future__ import annotations

import math

import pytest

from nhalf.decide.changes import Comparison, CurveRatio, Ratio
from nhalf.present.terminal.changes import resolution_words

POINT = {"pattern": "pingpong", "ranks": 2, "placement": "cores", "axes": ""}


def compared(threshold: float, *ratios: tuple[float, float, float]) -> Comparison:
    curves = [
        CurveRatio(POINT, "a", "a", 5, Ratio(*ratio), "unclear", [], threshold) for ratio in ratios
    ]
    return Comparison(threshold, 0.96, curves, [])


def test_half_of_the_curves_tell_the_median_reach() -> None:
    night = compared(1.1, (1.0, 0.8, 1.25), (1.1, 1.0, 1.21), (1.0, 0.5, 2.0))
    assert night.detectable_ratio == pytest.approx(1.25)
    words = "On half of the curves, a slowdown of less than 25 % may not show; "
    assert resolution_words(night) == f"{words}the tolerance is 10 %."
    assert night.as_json()["detectable_ratio"] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (
            (1.0, 0.8, 1.25),
            "Half of the curves resolve the tolerance of 30 %.",
        ),
        ((1.0, 1.0, 1.0), ""),
    ],
)
def test_what_is_finer_than_the_tolerance_is_no_complaint(
    ratio: tuple[float, float, float], words: str
) -> None:
    assert resolution_words(compared(1.3, ratio)) == words


@pytest.mark.parametrize(
    "ratios", [[], [(1.0, math.nan, math.nan)], [(0.0, 0.0, 1.0)], [(1.0, 0.0, math.inf)]]
)
def test_curves_without_an_interval_tell_nothing(ratios: list[tuple[float, float, float]]) -> None:
    night = compared(1.1, *ratios)
    assert math.isnan(night.detectable_ratio)
    assert resolution_words(night) == ""
