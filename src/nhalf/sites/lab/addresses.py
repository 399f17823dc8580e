# SPDX-License-Identifier: Apache-2.0
"""Addresses for a lab that nothing on this machine uses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from nhalf.base.errors import MissingError

CANDIDATES = ("198.18.0.0/16", "10.213.0.0/16", "172.29.0.0/16")
"""Ranges to search: that for benchmarks of networks (RFC 2544) first, then private ones."""


def networks() -> list[ipaddress.IPv4Network]:
    """All networks of 256 addresses for labs; the index of a network is the lab's number."""
    return [
        part for text in CANDIDATES for part in ipaddress.IPv4Network(text).subnets(new_prefix=24)
    ]


def free_number(routes: Iterable[str], taken_numbers: Iterable[int]) -> int:
    """The first network that overlaps no route and belongs to no other lab.

    `routes` are destinations as `ip route` prints them; the default route is no obstacle. Raises
    MissingError when none is free.
    """
    used = [ipaddress.IPv4Network(text, strict=False) for text in routes if text != "default"]
    used = [network for network in used if network.prefixlen > 0]
    numbers = set(taken_numbers)
    for number, network in enumerate(networks()):
        if number not in numbers and not any(
            network.overlaps(used_network) for used_network in used
        ):
            return number
    raise MissingError(
        f"all of {', '.join(CANDIDATES)} is routed somewhere from this machine",
        "a lab needs 256 addresses of its own: remove a route",
    )


def prefix(number: int) -> str:
    """The first three numbers of a lab's addresses: '198.18.0'."""
    return str(networks()[number].network_address).rsplit(".", 1)[0]
