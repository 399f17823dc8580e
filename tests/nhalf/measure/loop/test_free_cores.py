"""When the front end must not work beside ranks."""

from __future__ import annotations

import pytest

from nhalf.measure.loop.free_cores import leaves_a_core

UNBOUND = [[0, 1, 2, 3]] * 4


@pytest.mark.parametrize(
    ("allowed", "free"),
    [
        ([], True),
        ([[0], [1]], True),
        ([[0], [1], [2], [3]], False),
        (UNBOUND, False),
        (UNBOUND[:3], True),
        ([[0, 1]] * 4, True),
        ([[]] * 4, False),
    ],
)
def test_ranks_are_counted_where_they_may_run(allowed: list[list[int]], free: bool) -> None:
    ranks = [{"host": "here", "allowed_cpus": cores} for cores in allowed]
    others = [{"host": "there", "allowed_cpus": [core]} for core in range(4)]
    assert leaves_a_core({"placement": [*ranks, *others]}, "here", 4) == free


def test_who_says_nothing_of_places_has_a_core_to_spare() -> None:
    assert leaves_a_core({})
