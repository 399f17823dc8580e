from __future__ import annotations

import pytest

from nhalf.measure.probe.ranks_rule import allows, largest, nearby


@pytest.mark.parametrize(
    ("rule", "ranks"),
    [
        ("any", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("power-of-two", [1, 2, 4, 8]),
        ("square", [1, 4, 9]),
        ("two-factors", [1, 2, 4, 6, 8, 9, 12]),
    ],
)
def test_rules_allow_their_numbers(rule: str, ranks: list[int]) -> None:
    assert [number for number in range(1, 13) if allows(rule, number)] == ranks


def test_the_numbers_nearby_are_told() -> None:
    assert nearby("power-of-two", 3) == [1, 2, 4]
    assert nearby("square", 50) == [25, 36, 49, 64]
    assert largest("square", 50) == [25, 36, 49]
    assert largest("any", 1) == [1]
