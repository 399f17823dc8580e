"""Distinct rows are those of a sort, whatever the types and spans of their columns."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.facts.program.distinct import distinct_rows, place_of_each

COLUMNS = {
    "few": lambda draws, rows: draws.integers(-5, 5, rows).astype(np.int32),
    "short": lambda draws, rows: draws.integers(0, 70_000, rows).astype(np.uint32),
    "tags": lambda draws, rows: draws.integers(-(2**31), 2**31 - 1, rows).astype(np.int32),
    "sizes": lambda draws, rows: draws.integers(-(2**63), 2**63 - 1, rows),
}


@pytest.mark.parametrize(
    "names",
    [("few",), ("few", "short", "few"), ("tags", "tags", "tags"), ("sizes", "few", "sizes")],
)
def test_rows_have_the_numbers_that_a_sort_gives_them(names: tuple[str, ...]) -> None:
    draws = np.random.default_rng(1)
    columns = [COLUMNS[name](draws, 300) for name in names]
    columns = [np.concatenate([column, column]) for column in columns]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    number = distinct_rows(*columns)
    assert number.tolist() == [sorted(set(rows)).index(row) for row in rows]
    assert [rows[place] for place in place_of_each(number)] == sorted(set(rows))


def test_there_may_be_no_rows() -> None:
    nothing = np.zeros(0, np.int32)
    assert not len(distinct_rows(nothing, nothing))
    assert not len(place_of_each(distinct_rows(nothing)))
