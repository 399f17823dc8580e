from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.plan.options import check_options

DESCRIBED = [{"name": "o_s"}, {"name": "L"}, {"name": "noise"}]


@pytest.mark.parametrize("text", ["o_s=1e-6", "o_s=0,L=5e-6,noise=0.05", "L=1"])
def test_known_names_and_numbers_pass(text: str) -> None:
    check_options(text, DESCRIBED)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not written as name=value"),
        ("o_s", "not written as name=value"),
        ("o_s=1,", "not written as name=value"),
        ("=1", "unknown option ''"),
        ("O_s=1", "did you mean o_s"),
        ("noize=1", "did you mean noise"),
        ("o_s=", "o_s= is not a number"),
        ("o_s=fast", "o_s=fast is not a number"),
        ("o_s=-1", "from 0 up"),
        ("o_s=nan", "from 0 up"),
        ("o_s=inf", "from 0 up"),
        ("o_s=1e999", "from 0 up"),
    ],
)
def test_anything_else_is_one_clear_line(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        check_options(text, DESCRIBED)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_options_nothing_is_known() -> None:
    with pytest.raises(InputError, match="no option is known here"):
        check_options("o_s=1", [])
