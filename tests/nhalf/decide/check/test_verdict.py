"""From an interval and its bounds to a verdict, and from verdicts to one."""

from __future__ import annotations

import math

import pytest

from nhalf.decide.check.verdict import (
    UNDECIDED,
    Bounds,
    CheckedRun,
    JudgedExpectation,
    PointVerdict,
    Verdict,
    format_bounds,
    format_excess,
    format_place,
    judge,
    worst,
)
from nhalf.statistics.intervals import Interval

AT_MOST, AT_LEAST, BAND = Bounds(high=3.0), Bounds(low=3.0), Bounds(2.0, 3.0)


@pytest.mark.parametrize(
    ("bounds", "low", "high", "verdict"),
    [
        (AT_MOST, 1.0, 2.9, "met"),
        (AT_MOST, 3.1, 4.0, "missed"),
        (AT_MOST, 2.9, 3.1, "unclear"),
        (AT_MOST, 3.0, 3.0, "met"),
        (AT_MOST, 3.0 * (1 + 1e-12), 3.0 * (1 + 1e-12), "met"),
        (AT_MOST, 3.0 * (1 + 1e-6), 3.0 * (1 + 1e-6), "missed"),
        (AT_LEAST, 3.1, 4.0, "met"),
        (AT_LEAST, 1.0, 2.9, "missed"),
        (AT_LEAST, 2.9, 3.1, "unclear"),
        (BAND, 2.1, 2.9, "met"),
        (BAND, 1.0, 1.9, "missed"),
        (BAND, 3.1, 3.2, "missed"),
        (BAND, 1.0, 4.0, "unclear"),
        (AT_MOST, math.nan, math.nan, "unclear"),
        (AT_MOST, math.inf, math.inf, "missed"),
        (AT_LEAST, 3.5, math.inf, "met"),
    ],
)
def test_the_interval_decides(bounds: Bounds, low: float, high: float, verdict: Verdict) -> None:
    assert judge({}, "s", bounds, Interval((low + high) / 2, low, high)).verdict == verdict


def test_without_an_interval_it_is_said_why() -> None:
    point = judge({}, "s", AT_MOST, Interval(99.0, math.nan, math.nan))
    assert point.verdict == "unclear"
    assert "one launch" in point.reason


def test_the_worst_of_some_and_of_none() -> None:
    assert worst(["met", "unclear", "not measured", "missed"]) == "missed"
    assert worst(["met", "unclear", "not measured"]) == "not measured"
    assert worst(["met", "unclear"]) == "unclear"
    assert worst(["met"]) == "met"
    assert worst([]) == "not measured"


def test_the_point_that_decides_is_the_farthest_of_the_worst() -> None:
    points = [
        judge({"bytes": size}, "s", AT_MOST, Interval(value, value, value))
        for size, value in ((1, 2.0), (2, 3.3), (3, 3.6), (4, 3.5))
    ]
    answer = JudgedExpectation("a", "time", tuple(points))
    assert answer.worst_point.point == {"bytes": 3}
    assert answer.worst_point.excess_fraction == pytest.approx(0.2)


def test_worst_answers_come_first() -> None:
    def answer(name: str, value: float) -> JudgedExpectation:
        return JudgedExpectation(
            name, "time", (judge({}, "s", AT_MOST, Interval(value, value, value)),)
        )

    check = CheckedRun(
        "expectations", 0.95, (answer("good", 1.0), answer("bad", 4.0), answer("worse", 9.0))
    )
    assert [a.name for a in check.worst_first()] == ["worse", "bad", "good"]
    assert check.counts() == {"missed": 2, "not measured": 0, "unclear": 0, "met": 1}
    assert check.exit_code(strict=False) == 1


def test_only_strictly_is_unclear_a_failure() -> None:
    unclear = judge({}, "s", AT_MOST, Interval(3.0, 2.0, 4.0))
    check = CheckedRun("expectations", 0.95, (JudgedExpectation("a", "time", (unclear,)),))
    assert (check.exit_code(strict=False), check.exit_code(strict=True)) == (0, 1)
    assert CheckedRun("expectations", 0.95, ()).exit_code(strict=False) == 1


@pytest.mark.parametrize(
    ("values", "unclear_max", "strict", "code"),
    [
        ([3.0], 7, False, UNDECIDED),
        ([3.0], 8, False, 0),
        ([3.0], 0, False, 0),
        ([3.0], 7, True, 1),
        ([3.0, 9.0], 7, False, 1),
        ([3.0, 1.0], 7, False, UNDECIDED),
    ],
)
def test_what_stays_unclear_has_its_own_exit_code(
    values: list[float], unclear_max: int, strict: bool, code: int
) -> None:
    """Of answers of which that at 3 has been unclear for seven runs, and 9 is missed."""
    answers = tuple(
        JudgedExpectation(
            "a", "time", (judge({}, "s", AT_MOST, Interval(value, value - 1, value + 1)),),
            unclear_runs=7 * (value == 3.0),
        )
        for value in values
    )  # fmt: skip
    check = CheckedRun("expectations", 0.95, answers, unclear_max=unclear_max)
    assert check.exit_code(strict) == code


def test_words() -> None:
    def point(value: float, bounds: Bounds, unit: str = "s") -> PointVerdict:
        return judge({}, unit, bounds, Interval(value, value, value))  # type: ignore[arg-type]

    assert format_excess(point(3.3, AT_MOST)) == "10 % too slow"
    assert format_excess(point(2.7, AT_MOST)) == "10 % to spare"
    assert format_excess(point(3.0, AT_MOST)) == "just so"
    assert format_excess(point(1.5, AT_LEAST, "Bps")) == "50 % too low"
    assert format_excess(point(9.0, AT_MOST, "")) == "200 % too high"
    assert format_excess(point(4.5, AT_LEAST)) == "50 % to spare"
    assert format_excess(point(0.003, AT_MOST)) == "100 % to spare"
    assert format_excess(PointVerdict({}, "s", AT_MOST, None, "not measured")) == ""
    assert format_bounds(Bounds(1e-6, 3e-6), "s") == "1 µs to 3 µs"
    assert format_bounds(Bounds(low=64 * 1024.0), "bytes") == "≥ 64 KiB"
    place = {"pattern": "pingpong", "mpi": "", "transport": "model", "ranks": 2, "bytes": 0}
    assert format_place(place) == "pingpong, model, 2 ranks, 0 B"
