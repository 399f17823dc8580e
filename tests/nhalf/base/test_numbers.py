"""Numbers in words: three digits, no infinity, no interval that says nothing."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable

import pytest

from nhalf.base.numbers import (
    change,
    change_span,
    fixed,
    format_number,
    grouped,
    half_width_text,
    percent,
    says_nothing,
    share_span,
    span,
    superscript,
    times,
    whole,
)
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.present.wording import exact_size, interval_text, n_half_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (217.4, "217"), (1.2549, "1.25"), (0.0034, "0.0034"), (999.6, "1000"),
        (1234567.0, "1230000"), (9999999.0, "1·10⁷"), (1.25e12, "1.25·10¹²"),
        (-4.2e-9, "-4.2·10⁻⁹"),
        (math.nan, "–"), (math.inf, "–"), (-math.inf, "–"),
    ],
)  # fmt: skip
def test_three_digits_or_a_power_of_ten(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (times(6.94), "6.9x"), (times(12.3), "12x"), (times(1.084), "1.08x"),
        (times(0.02), "0.02x"),
        (times(18643.0), "18600x"), (times(0.0), "unknown"), (times(math.inf), "unknown"),
        (percent(0.123), "12 %"), (percent(18.64), "over 1000 %"), (percent(math.nan), "unknown"),
        (percent(-0.001), "0 %"), (change(1.251), "+25.1 %"), (change(22.0), "22x"),
        (change(0.1), "0.10x"), (change(math.nan), "unknown"), (half_width_text(0.032), "±3.2 %"),
        (half_width_text(4e-13), "±0 %"), (half_width_text(1.5), "unknown"),
        (half_width_text(math.nan), "unknown"), (fixed(2.5, 2), "2.50"), (fixed(1e9, 2), "1·10⁹"),
        (grouped(12345), "12 345"), (grouped(123456789), "123 million"), (superscript(-10), "⁻¹⁰"),
        (share_span(0.0, 0.46), "0 to 46 %"), (share_span(-1.0, 1e9), "unknown"),
    ],
)  # fmt: skip
def test_ratios_shares_and_changes(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.1e-7, 2.25e-7, "210 ns to 225 ns"), (1e-9, 1e-7, "1 ns to 100 ns"),
        (1e-9, 1.01e-7, "unknown"), (0.0, 1e-6, "unknown"), (-1e-6, 1e-6, "unknown"),
        (1e-6, math.inf, "unknown"), (math.nan, math.nan, "–"), (0.0, 0.0, "0 ns to 0 ns"),
    ],
)  # fmt: skip
def test_an_interval_of_more_than_a_factor_of_a_hundred_is_unknown(
    low: float, high: float, text: str
) -> None:
    assert span(low, high, format_time) == text
    assert says_nothing(low, high) == (text in ("unknown", "–"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_time(1e-20), "0 ns"), (format_time(1e12), "1·10¹² s"),
        (format_time(-5e-6), "-5 µs"),
        (format_rate(math.inf), "–"), (format_rate(0.0), "0 B/s"), (format_rate(-1.0), "–"),
        (format_size(2.0**50), "1 PiB"), (format_size(math.nan), "–"), (format_size(2**62), "–"),
        (format_size(1023 * 2**10), "1023 KiB"), (format_size(16383), "16383 B"),
        (exact_size(2**30 + 1), "1 GiB + 1 B"), (exact_size(1048577), "1048577 B"),
        (n_half_text(1e12), "930 GiB"), (n_half_text(math.inf), "–"),
    ],
)  # fmt: skip
def test_times_rates_and_sizes_beyond_any_machine(text: str, expected: str) -> None:
    assert text == expected


WORDS: list[Callable[[float], str]] = [
    format_number, times, percent, change, half_width_text, format_time, format_rate, format_size,
    n_half_text, lambda value: fixed(value, 3),
]  # fmt: skip
PAIRS: list[Callable[[float, float], str]] = [
    span, share_span, lambda low, high: span(low, high, format_rate),
    lambda low, high: interval_text(low, high, 2),
]  # fmt: skip


def test_no_number_of_ten_thousand_is_absurd() -> None:
    draw = random.Random(1)
    special = [0.0, 1.0, math.nan, math.inf, -math.inf, 1e-12, 1e12, -1.0, 5e-324, 1.7e308]
    for _ in range(10_000):
        low, high = (
            draw.choice(special)
            if draw.random() < 0.3
            else draw.choice((1, 1, -1)) * 10 ** draw.uniform(-20, 20)
            for _ in range(2)
        )
        for text in (draw.choice(WORDS)(low), draw.choice(PAIRS)(low, high)):
            assert not re.search(r"(?i)nan|inf|±1000", text), (low, high, text)
            assert all(
                len(re.sub(r"\D", "", number)) <= 7 for number in re.findall(r"[\d.,]+", text)
            ), (low, high, text)


@pytest.mark.parametrize(
    ("share", "places", "signed", "text"),
    [
        (0.1234, 1, False, "12.3 %"), (0.1234, None, False, "12.3 %"), (0.5, 0, True, "+50 %"),
        (-0.00004, 1, True, "0.0 %"), (0.0, 1, True, "+0.0 %"), (1e300, 1, True, "over 1000 %"),
        (-1e300, 1, True, "below -1000 %"), (math.inf, 1, True, "unknown"),
    ],
)  # fmt: skip
def test_shares_with_places_and_signs(
    share: float, places: int | None, signed: bool, text: str
) -> None:
    assert percent(share, places, signed=signed) == text


def test_whole_numbers_have_seven_digits_at_most() -> None:
    assert [whole(value) for value in (0, 1234567, 12345678, math.nan)] == [
        "0", "1234567", "1.23·10⁷", "–"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ratio", "low", "high", "expected"),
    [
        (1.25, 1.22, 1.28, ("+25.0 %", "+22.0 to +28.0 %")),
        (0.982, 0.21, 6.5, ("-1.8 %", "-79.0 to +550.0 %")),
        (3.0, 1.5, 6.0, ("3.0x", "1.50 to 6.0")),
        (1.1, 0.001, 1000.0, ("+10.0 %", "unknown")),
        (1.1, math.nan, math.nan, ("+10.0 %", "–")),
    ],
)
def test_an_interval_has_the_unit_of_its_change(
    ratio: float, low: float, high: float, expected: tuple[str, str]
) -> None:
    assert (change(ratio), change_span(ratio, low, high)) == expected
