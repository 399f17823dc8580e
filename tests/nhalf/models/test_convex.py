"""Functions of straight pieces, whose bends are known."""

from __future__ import annotations

import pytest

from nhalf.models.convex import bends, crossing

CALLS: list[float] = []


def longest(place: float) -> float:
    """Three paths, of 1, 3 and 10 messages."""
    CALLS.append(place)
    return max(10 + place, 8 + 3 * place, 1 + 10 * place)


def test_bends_are_where_another_path_is_the_longest() -> None:
    """Four tangents are looked at: at both ends and at the bend, by two values each."""
    CALLS.clear()
    assert bends(longest, 4.0, 1e-6, 1e-9) == pytest.approx([1.0])
    assert len(CALLS) == 8


def test_every_bend_is_seen() -> None:
    def more(place: float) -> float:
        return max(longest(place), 9.5 + 2 * place)

    assert bends(more, 4.0, 1e-6, 1e-9) == pytest.approx([0.5, 8.5 / 8])


@pytest.mark.parametrize("slope", [0.0, 7.0])
def test_a_straight_line_has_no_bend(slope: float) -> None:
    assert bends(lambda place: 2 + slope * place, 1.0, 1e-6, 1e-9) == []


def test_a_crossing_is_exact() -> None:
    assert crossing(longest, 10, 15, 1e-9, 1e-9, 1e3) == pytest.approx(1.4, abs=1e-9)


def test_what_never_grows_crosses_nothing() -> None:
    assert crossing(lambda _: 10.0, 10, 10.1, 1e-9, 1e-9, 1e3) is None
