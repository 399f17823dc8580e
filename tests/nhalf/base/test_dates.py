"""Dates of moments, and none for moments that no calendar has."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from nhalf.base.dates import date_of, date_of_text

MOMENT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_a_moment_has_a_date() -> None:
    assert date_of(1.7e9, UTC) == MOMENT
    assert date_of_text("2023-11-14T22:13:20+00:00") == MOMENT


@pytest.mark.parametrize("moment_s", [1e300, -1e300, 1e15, math.nan, math.inf])
def test_moments_of_no_calendar_have_none(moment_s: float) -> None:
    assert date_of(moment_s) is None
    assert date_of(moment_s, UTC) is None


@pytest.mark.parametrize("text", ["", "yesterday", "2023-11-14T22:13:20"])
def test_other_texts_have_none(text: str) -> None:
    assert date_of_text(text) is None
