"""Times against their own past: what is called slower, how often falsely, and how surely."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.statistics.rolling import FALSE_RATE, OCCASIONS_LEAST, PastRatio, against_past

CORES = [f"core {number}" for number in range(6)]
NAMES = [*CORES, "memory 0", "messages"]


def occasions(random: np.random.Generator, count: int, deviation: float) -> list[dict[str, float]]:
    """Times around 1 µs; memory and messages are twice and three times as uneven as cores."""
    spread = deviation * np.array([1.0] * len(CORES) + [2.0, 3.0])
    times_s = 1e-6 * np.exp(spread * random.standard_normal((count, len(NAMES))))
    return [dict(zip(NAMES, row, strict=True)) for row in times_s.tolist()]


def slower(past: list[dict[str, float]], now: dict[str, float]) -> list[str]:
    return [ratio.name for ratio in against_past(past, now) if ratio.is_slower(0.05)]


@pytest.mark.parametrize("count", [8, 20, 50])
@pytest.mark.parametrize("deviation", [0.002, 0.01, 0.03])
def test_an_unchanged_node_is_called_slower_as_seldom_as_is_said(
    count: int, deviation: float
) -> None:
    random, trials = np.random.default_rng(7), 300
    alarms = 0
    for _ in range(trials):
        *past, now = occasions(random, count + 1, deviation)
        alarms += bool(slower(past, now))
    # More than this has a chance of 1 in 300 if the rate is as said.
    assert alarms <= 3
    assert FALSE_RATE * trials < 1


@pytest.mark.parametrize(
    ("deviation", "factor", "least"), [(0.005, 1.1, 98), (0.01, 1.1, 90), (0.02, 1.25, 98)]
)
def test_one_slower_core_is_named_and_no_other(deviation: float, factor: float, least: int) -> None:
    random = np.random.default_rng(11)
    named = others = 0
    for _ in range(100):
        *past, now = occasions(random, 21, deviation)
        now["core 3"] *= factor
        names = slower(past, now)
        named += "core 3" in names
        others += bool(set(names) - {"core 3"})
    assert named >= least
    assert others <= 2


def test_the_ratio_is_to_the_centre_of_the_past_and_its_interval_holds_both_ends() -> None:
    past = [{"core 0": 1.0 + 0.01 * (number % 3 - 1)} for number in range(12)]
    (ratio,) = against_past(past, {"core 0": 1.5})
    assert ratio.past_s == pytest.approx(1.0, rel=1e-3)
    assert ratio.ratio == pytest.approx(1.5, rel=1e-3)
    assert 1.4 < ratio.low < ratio.ratio < ratio.high
    assert ratio.low * ratio.high == pytest.approx(ratio.ratio**2)
    assert ratio.is_slower(0.05)


def test_a_past_without_noise_is_not_believed() -> None:
    past = [{"core 0": 1.0}] * 20
    (ratio,) = against_past(past, {"core 0": 1.0})
    assert ratio.ratio == 1.0
    assert ratio.reach > 1.01
    assert not ratio.is_slower(0.0)


def test_what_was_accepted_with_an_accident_still_finds_what_is_slower() -> None:
    random = np.random.default_rng(3)
    *past, now = occasions(random, 31, 0.005)
    past[10]["core 1"] *= 3
    now["core 3"] *= 1.2
    assert slower(past, now) == ["core 3"]


def test_where_the_past_has_long_tails_more_is_needed() -> None:
    calm = [{"core 0": math.exp(0.01 * (-1) ** number)} for number in range(20)]
    wild = [dict(times) for times in calm]
    wild[3]["core 0"] = wild[12]["core 0"] = 1.3
    now = {"core 0": 1.2}
    assert slower(calm, now) == ["core 0"]
    assert slower(wild, now) == []


@pytest.mark.parametrize("now", [{}, {"core 0": 0.0}, {"core 0": math.nan}, {"core 9": 1.0}])
def test_nothing_is_said_about_what_has_no_value_or_no_past(now: dict[str, float]) -> None:
    assert against_past([{"core 0": 1.0}] * OCCASIONS_LEAST, now) == []
    assert against_past([], now) == []


def test_a_past_of_too_few_occasions_says_nothing() -> None:
    past = [{"core 0": 1.0, "core 1": 1.0}] * OCCASIONS_LEAST
    past[0] = {"core 1": 1.0}
    assert [ratio.name for ratio in against_past(past, {"core 0": 1.0, "core 1": 1.0})] == [
        "core 1"
    ]


def test_missing_and_impossible_values_of_the_past_are_left_out() -> None:
    past = [{"core 0": 1.0}] * 10 + [{"core 0": value} for value in (0.0, -1.0, math.inf, math.nan)]
    (ratio,) = against_past(past, {"core 0": 1.1})
    assert ratio.past_s == pytest.approx(1.0)


def test_slower_needs_the_tolerance_and_a_sure_sign() -> None:
    assert PastRatio("core 0", 1.2, 1.0, 1.1, 1.3).is_slower(0.1)
    assert not PastRatio("core 0", 1.2, 1.0, 1.1, 1.3).is_slower(0.25)
    assert not PastRatio("core 0", 1.2, 1.0, 0.9, 1.6).is_slower(0.1)
    assert PastRatio("core 0", 1.2, 1.0, 0.9, 1.6).exceeds(0.1)
