"""Options that no other beats."""

from __future__ import annotations

from nhalf.statistics.unbeaten import unbeaten


def test_the_front_of_two_costs() -> None:
    assert unbeaten([(1, 4), (2, 2), (4, 1), (3, 3), (2, 5)]) == [True, True, True, False, False]


def test_equal_options_beat_each_other_not() -> None:
    assert unbeaten([(1, 1), (1, 1 + 1e-12), (1, 2)]) == [True, True, False]
    assert unbeaten([]) == []
    assert unbeaten([(5, 5)]) == [True]
