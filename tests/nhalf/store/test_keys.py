"""Axes as one text in the tables, there and back."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.store.keys import axes_text, axis, parse_axes

names = st.from_regex(re.compile(r"[A-Za-z]\w{0,4}", re.ASCII), fullmatch=True)
values = st.from_regex(re.compile(r"[\w.-]{1,5}", re.ASCII), fullmatch=True)


@given(st.dictionaries(names, values, max_size=4))
def test_there_and_back(axes: dict[str, str]) -> None:
    text = axes_text(axes)
    assert parse_axes(text) == axes
    assert text == axes_text(dict(reversed(axes.items()))), "the order does not matter"
    frame = pl.DataFrame({"axes": [text]})
    for name, value in axes.items():
        assert frame.select(axis(name)).item() == value
    assert frame.select(axis("absent")).item() is None


def test_a_name_that_ends_like_another_is_not_taken_for_it() -> None:
    frame = pl.DataFrame({"axes": ["", "nextstart=1", "nextstart=1,start=2"]})
    assert frame.select(axis("start"))["start"].to_list() == [None, None, "2"]


@pytest.mark.parametrize("text", ["a", "a=", "=1", "b=1,a=2", "a=1,a=1", "a=1,", "a=1=2", "a =1"])
def test_another_text_is_one_clear_line(text: str) -> None:
    with pytest.raises(InputError):
        parse_axes(text)


@pytest.mark.parametrize("axes", [{"a": ""}, {"a": "1,2"}, {"": "1"}, {"a": "x=y"}, {"a b": "1"}])
def test_what_the_text_cannot_hold_is_refused(axes: dict[str, str]) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        axes_text(axes)
