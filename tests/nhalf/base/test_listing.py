"""Lists in a line of text."""

from __future__ import annotations

import pytest

from nhalf.base.listing import few, ranks_text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a, b"),
        (["a", "b", "c"], "a, b and 1 more"),
        (["a", "b", "c", "d"], "a, b and 2 more"),
    ],
)
def test_what_is_too_much_is_counted(names: list[str], text: str) -> None:
    assert few(names, 2) == text


def test_a_single_rank_is_no_plural() -> None:
    assert [ranks_text(1), ranks_text(2), ranks_text("1"), ranks_text("2, 4")] == [
        *("1 rank", "2 ranks", "1 rank", "2, 4 ranks")
    ]
