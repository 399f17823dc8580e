"""What a probe says about patterns, whatever its age."""

from __future__ import annotations

import msgspec
import pytest

from nhalf.measure.probe.pattern import PatternInfo


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


def test_a_probe_that_says_little_is_understood() -> None:
    info = msgspec.convert({"name": "x", "present": True, "what": "?", "later": 1}, PatternInfo)
    assert info == PatternInfo("x")
    assert (info.timing, info.axes, info.ranks_min) == ("first-rank", (), 2)
