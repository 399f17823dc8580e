"""What a probe says about patterns, whatever its age."""

from __future__ import annotations

import msgspec
import pytest

from nhalf.measure.probe.pattern import PatternInfo, allows, largest, nearby


@pytest.mark.parametrize(
    ("form", "wanted", "sizes"),
    [
        ({}, (0, 1, 8), (0, 1, 8)),
        ({"sized": False}, (1, 8), (0,)),
        ({"size_multiple": 4}, (0, 1, 2, 4, 5, 8), (0, 4, 8)),
        ({"size_multiple": 3}, (1024,), (1026,)),
        ({"size_multiple": 0}, (5,), (5,)),
    ],
)
def test_sizes_are_what_a_pattern_can_have(
    form: dict[str, object], wanted: tuple[int, ...], sizes: tuple[int, ...]
) -> None:
    assert msgspec.convert({"name": "x", **form}, PatternInfo).sizes(wanted) == sizes


def test_sizes_are_the_same_for_all_types_of_elements() -> None:
    axes = [{"name": "type", "size_multiples": {"double": 8, "complex": 16}}]
    info = msgspec.convert({"name": "x", "size_multiple": 4, "axes": axes}, PatternInfo)
    assert info.sizes((1, 9), ("", "type=int")) == (4, 12)
    assert info.sizes((1, 9), ("", "op=max,type=double")) == (8, 16)
    assert info.sizes((1, 17), ("type=double", "type=complex")) == (16, 32)


def test_a_probe_that_says_little_is_understood() -> None:
    info = msgspec.convert({"name": "x", "present": True, "what": "?", "later": 1}, PatternInfo)
    assert info == PatternInfo("x")
    assert (info.timing, info.axes, info.ranks_min) == ("first-rank", (), 2)


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
