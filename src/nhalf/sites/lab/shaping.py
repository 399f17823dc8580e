"""Rates of links, and the token buckets that limit them.

tc's tbf counts every frame with its Ethernet, IP and TCP headers, including those into which the
network card would cut a large packet. A program therefore sees PAYLOAD_SHARE of a rate.
"""

from __future__ import annotations

import re

from nhalf.base.errors import InputError

FRAME_BYTES = 1514
HEADER_BYTES = 14 + 20 + 32
PAYLOAD_SHARE = (FRAME_BYTES - HEADER_BYTES) / FRAME_BYTES
"""Ethernet 14, IP 20, TCP with time stamps 32 bytes of a full frame: 1448/1514 is payload."""

PACKET_S = 131e-6
PACKET_BYTES_MIN, PACKET_BYTES_MAX = 2 * (FRAME_BYTES - HEADER_BYTES), 65536
"""TCP hands packets to a link that pass in PACKET_S: smaller ones keep a processor busy that ranks
poll on, larger ones need a larger bucket."""
PACKETS_IN_BUCKET = 2
QUEUE_BYTES_PER_SENDER = 8 << 20
"""More than a TCP connection has in flight (tcp_rmem allows 6 MiB), so that no queue overflows."""

RATE_BPS_MIN, RATE_BPS_MAX = 1e6 / 8, 100e9 / 8
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg])bit(?:/s)?", re.IGNORECASE)
_BITS = {"k": 1e3, "m": 1e6, "g": 1e9}


def parse_link_rate(text: str) -> float:
    """Bytes per second from '200mbit', '1gbit' or '2.5 Gbit/s'.

    Raises InputError if it is not a rate, or not between 1 Mbit/s and 100 Gbit/s.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is not the rate of a link", "write 200mbit or 2.5gbit")
    rate_Bps = float(match[1]) * _BITS[match[2].lower()] / 8
    if not RATE_BPS_MIN <= rate_Bps <= RATE_BPS_MAX:
        raise InputError(f"no link can be made {text}", "choose between 1mbit and 100gbit")
    return rate_Bps


def rate_text(rate_Bps: float | None) -> str:
    """The text of a rate: '500 Mbit/s', or 'as fast as it goes' for None."""
    if rate_Bps is None:
        return "as fast as it goes"
    mega = rate_Bps * 8 / 1e6
    return f"{mega / 1e3:g} Gbit/s" if mega >= 1e3 else f"{mega:g} Mbit/s"


def packet_bytes(rate_Bps: float | None) -> int:
    """The largest packet that TCP hands to a link of this rate; the usual one if not shaped."""
    if rate_Bps is None:
        return PACKET_BYTES_MAX
    return min(max(round(rate_Bps * PACKET_S), PACKET_BYTES_MIN), PACKET_BYTES_MAX)


def burst_bytes(rate_Bps: float) -> int:
    """The size of the bucket: two packets with the headers of all their frames.

    A bucket that is too small loses tokens whenever a timer is late; one that is full lets the
    beginning of each message pass at the speed of memory.
    """
    packet = packet_bytes(rate_Bps)
    frames = -(-packet // (FRAME_BYTES - HEADER_BYTES))
    return PACKETS_IN_BUCKET * (packet + frames * HEADER_BYTES)


def bucket_command(port: str, rate_Bps: float | None, senders: int) -> str:
    """One line for `tc -batch`: the root queue of a port, with a bucket if it is shaped."""
    if rate_Bps is None:
        return f"qdisc replace dev {port} root pfifo limit 100000"
    queue_bytes = min(QUEUE_BYTES_PER_SENDER * max(senders, 4), 1 << 30)
    return (
        f"qdisc replace dev {port} root tbf rate {round(rate_Bps)}bps "
        f"burst {burst_bytes(rate_Bps)} limit {queue_bytes}"
    )
