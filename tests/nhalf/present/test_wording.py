"""Intervals are told only where they say something."""

from __future__ import annotations

import math

import pytest

from nhalf.base.numbers import span
from nhalf.base.units import format_time
from nhalf.present.wording import exact_size, interval_text


@pytest.mark.parametrize(
    ("low_s", "high_s", "launches", "told"),
    [
        (2.1e-7, 2.25e-7, 5, "210 ns to 225 ns"),
        (4.29e-8, 1.79, 2, "unknown (launches disagree)"),
        (5.1e-7, 5.1e-7, 1, "none (needs several launches)"),
        (math.nan, math.nan, 2, "none (needs several launches)"),
    ],
)
def test_an_interval_is_told_or_why_not(
    low_s: float, high_s: float, launches: int, told: str
) -> None:
    assert interval_text(low_s, high_s, launches) == told


def test_the_terminal_tells_no_interval_that_is_none() -> None:
    assert span(math.nan, math.nan, format_time) == "–"
    assert span(4.29e-8, 1.79, format_time) == "unknown"
    assert span(1e-6, 2e-6, format_time) == "1 µs to 2 µs"


@pytest.mark.parametrize(("size", "told"), [(4096, "4 KiB"), (1048577, "1048577 B"), (0, "0 B")])
def test_a_size_by_which_it_can_be_measured_again(size: int, told: str) -> None:
    assert exact_size(size) == told
