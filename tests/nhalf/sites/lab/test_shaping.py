from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.sites.lab import shaping


@pytest.mark.parametrize("text", ["", "1", "fast", "-1gbit", "0mbit", "1GB", "1e3mbit", "1tbit"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        shaping.parse_link_rate(text)


@pytest.mark.parametrize("text", ["999kbit", "101gbit"])
def test_rates_that_cannot_be_made_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="between 1mbit and 100gbit"):
        shaping.parse_link_rate(text)


@pytest.mark.parametrize(
    ("text", "rate_Bps"),
    [("200mbit", 25e6), ("1gbit", 125e6), ("2.5 Gbit/s", 312.5e6), ("1000kbit", 125e3)],
)
def test_rates_are_bytes_per_second(text: str, rate_Bps: float) -> None:
    assert shaping.parse_link_rate(text) == rate_Bps


@pytest.mark.parametrize("text", ["200 Mbit/s", "1 Gbit/s", "2.5 Gbit/s"])
def test_a_rate_is_shown_as_it_may_be_written(text: str) -> None:
    assert shaping.rate_text(shaping.parse_link_rate(text)) == text


def test_the_share_of_payload_is_that_of_full_frames() -> None:
    assert pytest.approx(1448 / 1514) == shaping.PAYLOAD_SHARE


@pytest.mark.parametrize(
    ("rate_Bps", "packet"),
    [(None, 65536), (1.25e5, 2896), (25e6, 3275), (125e6, 16375), (1e10, 65536)],
)
def test_packets_go_with_the_rate(rate_Bps: float | None, packet: int) -> None:
    assert shaping.packet_bytes(rate_Bps) == packet


def test_a_bucket_holds_two_packets_with_their_headers() -> None:
    assert shaping.burst_bytes(1.25e5) == 2 * (2896 + 2 * 66)
    assert shaping.burst_bytes(125e6) == 2 * (16375 + 12 * 66)


def test_the_command_of_a_shaped_port() -> None:
    assert shaping.bucket_command("eth0", 125e6, 4) == (
        "qdisc replace dev eth0 root tbf rate 125000000bps burst 34334 limit 33554432"
    )


def test_a_port_is_given_back_its_speed() -> None:
    line = shaping.bucket_command("n1", None, 4)
    assert line == "qdisc replace dev n1 root pfifo limit 100000"


def test_the_queue_grows_with_the_senders_and_has_an_end() -> None:
    limits = [
        int(shaping.bucket_command("n1", 1e6, senders).rpartition(" ")[2])
        for senders in (1, 4, 8, 1000)
    ]
    assert limits == [32 << 20, 32 << 20, 64 << 20, 1 << 30]
