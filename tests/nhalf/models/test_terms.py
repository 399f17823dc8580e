"""Sums of terms: each against its value by hand."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.models.terms import TERMS, WORDS, check_terms, in_words, value

BY_HAND = {
    "1": (1, 1, 1),
    "p": (1, 6, 8),
    "p-1": (0, 5, 7),
    "p-2": (-1, 4, 6),
    "log2(p)": (0, 2.584962500721156, 3),
    "floor(log2(p))": (0, 2, 3),
    "ceil(log2(p))": (0, 3, 3),
    "floor(log2(p))^2": (0, 4, 9),
    "sqrt(floor(log2(p)))": (0, 1.4142135623730951, 1.7320508075688772),
    "sqrt(p)": (1, 2.449489742783178, 2.8284271247461903),
    "p^2": (1, 36, 64),
    "p^3": (1, 216, 512),
    "(p-1)/p": (0, 0.8333333333333334, 0.875),
    "p*log2(p)": (0, 15.509775004326936, 24),
}


@pytest.mark.parametrize("name", sorted(TERMS))
def test_terms_of_1_6_and_8_ranks(name: str) -> None:
    assert tuple(value({name: 1.0}, ranks) for ranks in (1, 6, 8)) == pytest.approx(BY_HAND[name])


def test_a_sum_adds_its_terms_and_an_empty_one_is_nothing() -> None:
    assert value({"p": 28.0, "1": -9.0}, 4) == 103
    assert value({}, 4) == 0


def test_terms_that_are_not_known_are_refused() -> None:
    check_terms({name: 1.0 for name in TERMS})
    with pytest.raises(InputError, match=r"unknown term 'log\(p\)'; did you mean log2\(p\)"):
        check_terms({"p": 1.0, "log(p)": 1.0})


def test_sums_in_words() -> None:
    assert set(WORDS) == set(TERMS) - {"1"}
    assert in_words({"1": -9e-6, "p": 28e-6}, 1e-6) == "28 p − 9"
    assert (
        in_words({"p-2": -0.25e-9, "floor(log2(p))^2": -2e-9}, 1e-9) == "−0.25 (p − 2) − 2 ⌊log₂p⌋²"
    )
    assert in_words({"1": 1 / 3}, 1.0) == "0.3333"
    assert in_words({}, 1.0) == ""
