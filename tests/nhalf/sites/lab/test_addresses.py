# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from nhalf.base.errors import MissingError
from nhalf.sites.lab import addresses


def test_the_first_network_is_of_the_range_for_benchmarks() -> None:
    assert addresses.prefix(addresses.free_number([], [])) == "198.18.0"


@pytest.mark.parametrize(
    ("routes", "taken", "expected"),
    [
        (["default", "0.0.0.0/0"], [], "198.18.0"),
        ([], [0, 1], "198.18.2"),
        (["198.18.0.0/23", "198.18.2.7"], [], "198.18.3"),
        (["198.0.0.0/8"], [], "10.213.0"),
        (["198.18.0.0/15", "10.0.0.0/8"], [], "172.29.0"),
    ],
)
def test_networks_in_use_are_left_alone(routes: list[str], taken: list[int], expected: str) -> None:
    assert addresses.prefix(addresses.free_number(routes, taken)) == expected


def test_none_free_is_said() -> None:
    routes = ["198.18.0.0/15", "10.0.0.0/8", "172.16.0.0/12"]
    with pytest.raises(MissingError, match="remove a route"):
        addresses.free_number(routes, [])


def test_names_made_of_the_last_number_fit_into_an_interface() -> None:
    assert len(f"nhalf{len(addresses.networks()) - 1}n120") <= 15
