"""Which remedies are named where several curves are unclear."""

from __future__ import annotations

import pytest

from nhalf.statistics.doubt import (
    DISTURBED,
    MORE,
    TOO_FINE,
    few_launches,
    more,
    shared_remedies,
    wide_interval,
)


def test_launches_that_decide_are_named() -> None:
    assert wide_interval(5, 9).remedy == more(9)
    assert wide_interval(5, 0).remedy == TOO_FINE
    assert wide_interval(5).remedy == MORE
    assert wide_interval(20).remedy == more(40)


@pytest.mark.parametrize(
    ("deciding", "remedies"),
    [
        ([], []),
        ([9], [more(9)]),
        ([9, 30, 12], [more(30)]),
        ([0, 0], [TOO_FINE]),
        ([0, 30], [more(30)]),
    ],
)
def test_one_number_serves_all_curves(deciding: list[int], remedies: list[str]) -> None:
    assert shared_remedies([wide_interval(5, number) for number in deciding]) == remedies


def test_remedies_of_other_reasons_stay() -> None:
    doubts = [wide_interval(5, 9), DISTURBED, few_launches(1, 3)]
    assert shared_remedies(doubts) == [more(9), DISTURBED.remedy, MORE]
