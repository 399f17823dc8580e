"""What a comparison can tell at all."""

from __future__ import annotations

import math

import pytest

from nhalf.decide.changes import Comparison, CurveRatio, Ratio
from nhalf.present.terminal.changes import resolution_words

POINT = {"pattern": "pingpong", "ranks": 2, "placement": "cores", "axes": ""}


def compared(threshold: float, *detectable_ratios: float) -> Comparison:
    unclear = Ratio(1.0, 0.8, 1.25)
    curves = [
        CurveRatio(POINT, "a", "a", 5, unclear, "unclear", [], threshold, detectable_ratio=ratio)
        for ratio in detectable_ratios
    ]
    return Comparison(threshold, 0.96, curves, [])


def test_half_of_the_curves_tell_the_median() -> None:
    night = compared(1.1, 1.25, 1.1, 2.0, math.nan)
    assert night.detectable_ratio == pytest.approx(1.25)
    words = "On half of the curves, a slowdown of less than 25 % may not show; "
    assert resolution_words(night) == f"{words}the tolerance is 10 %."
    assert night.as_json()["detectable_ratio"] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.25, "Half of the curves resolve the tolerance of 30 %."),
        (1.0, ""),
        (
            40.0,
            "On half of the curves, even a slowdown of 10x may not show; the tolerance is 30 %.",
        ),
    ],
)
def test_what_shows_is_said_in_a_sentence(ratio: float, words: str) -> None:
    assert resolution_words(compared(1.3, ratio)) == words


@pytest.mark.parametrize("ratios", [[], [math.nan], [math.inf]])
def test_curves_without_an_interval_tell_nothing(ratios: list[float]) -> None:
    night = compared(1.1, *ratios)
    assert math.isnan(night.detectable_ratio)
    assert resolution_words(night) == ""
