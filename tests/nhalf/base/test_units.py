"""Times, rates and shares as people write them."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.base.units import format_duration, parse_rate, parse_share, parse_size, parse_time


@pytest.mark.parametrize(
    ("text", "time_s"),
    [
        ("3us", 3e-6), ("3 µs", 3e-6), ("3.5 μs", 3.5e-6), ("250ns", 250e-9), ("1.5 ms", 1.5e-3),
        (" 2 s ", 2.0), ("1e3 ns", 1e-6),
    ],
)  # fmt: skip
def test_times(text: str, time_s: float) -> None:
    assert parse_time(text) == pytest.approx(time_s, rel=1e-12)


@pytest.mark.parametrize("text", ["", "3", "3 m", "-3us", "0us", "nan us", "inf s", "1e999s"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(InputError, match="is not a time; write 250ns"):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "rate_Bps"),
    [
        ("1.2 GB/s", 1.2e9), ("117 MiB/s", 117 * 2**20), ("950 Mbit/s", 950e6 / 8),
        ("100Gbit/s", 12.5e9), ("5 kB/s", 5e3), ("7 B/s", 7.0), ("1TB/s", 1e12),
    ],
)  # fmt: skip
def test_rates(text: str, rate_Bps: float) -> None:
    assert parse_rate(text) == pytest.approx(rate_Bps, rel=1e-12)


@pytest.mark.parametrize("text", ["", "3", "1 GB", "100 Gb/s", "100 Gbps", "-1 GB/s", "0 B/s"])
def test_what_is_no_rate_or_may_mean_bits_and_bytes(text: str) -> None:
    with pytest.raises(InputError, match=r"is not a rate; write 1\.2 GB/s"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "share"),
    [("10%", 0.1), ("0.05", 0.05), ("0 %", 0.0), ("150%", 1.5), ("0.999", 0.999), ("3.5%", 0.035)],
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "-5%", "nan", "much"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(InputError, match="is not a share"):
        parse_share(text)


@pytest.mark.parametrize("text", ["1", "3.5", "10", "1e300"])
def test_a_percentage_without_its_sign_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"'{text}' has no %; write {text}%"):
        parse_share(text)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("4M", 4 << 20),
        ("4MB", 4 << 20),
        ("4m", 4 << 20),
        ("4 MiB", 4 << 20),
        ("10kB", 10240),
        ("7B", 7),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("4Mb", "4MB"), ("1Gb", "1GB"), ("10kb", "10kB"), ("8b", "8B"), ("4Kib", "4KB")],
)
def test_bits_are_refused(text: str, remedy: str) -> None:
    with pytest.raises(InputError, match=f"'{text}' is a number of bits; write bytes as {remedy}"):
        parse_size(text)


@pytest.mark.parametrize(
    ("time_s", "text"),
    [
        (0.0, "0 ns"), (0.25, "250 ms"), (12.4, "12 s"), (59.4, "59 s"), (59.6, "1 min"),
        (540.0, "9 min"), (3580.0, "1 h"), (8100.0, "2 h 15 min"), (86400.0, "24 h"),
        (302400.0, "3.5 days"), (float("nan"), "–"), (float("inf"), "–"),
    ],
)  # fmt: skip
def test_durations_are_those_of_somebody_who_waits(time_s: float, text: str) -> None:
    assert format_duration(time_s) == text
