"""Costs as expressions: what is read, what is refused, values and how they are printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.models.expression import FUNCTIONS, PARTS, parse, python_function

PIPELINED = "(max(1, n / B) - 1) * M(min(n, B), 2) + ceil(log2(p)) * T(min(n, B))"


def message(size_bytes: float) -> float:
    return 5e-6 + size_bytes * 1e-9


def fan(size_bytes: float, others: float) -> float:
    return others * (1e-6 + size_bytes * 1e-9)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "p.real", "__import__('os')", "T(n", "T(n, 2)", "M(n)", "'p'", "p if n else 2"),
        *("lambda: 1", "[p]", "p % 2", "T(*n)", "T(x=n)", "min(n)", "True and p", "p < 2"),
    ],
)
def test_what_is_no_cost_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no cost"):
        parse(text)


def test_values_of_arrays_and_of_numbers_are_the_same() -> None:
    cost = parse(PIPELINED)
    parts = {"T": message, "M": fan}
    ranks, sizes = np.array([[2], [3], [32]]), np.array([0, 1, 8192, 8193, 1 << 20])
    found = cost.value(ranks, sizes, parts)
    assert found.shape == (3, 5)
    for i, p in enumerate(ranks[:, 0]):
        for j, n in enumerate(sizes):
            assert cost.value(p, n, parts) == found[i, j]
    first = math.ceil(math.log2(32)) * message(8192) + 127 * fan(8192, 2)
    assert found[2, 4] == pytest.approx(first, rel=1e-14)


def test_powers_of_two_are_whole_logarithms() -> None:
    """log2 of 2^29 may come out a bit above 29, which a ceiling must not see."""
    rounds = parse("ceil(log2(p)) + floor(log2(p))")
    powers = 2 ** np.arange(1, 40)
    assert (rounds.value(powers, 0, {}) == 2 * np.arange(1, 40)).all()


def test_values_that_do_not_vary_have_the_shape_of_what_was_asked() -> None:
    assert parse("2").value(np.array([[2], [3]]), np.array([1, 2, 3]), {}).shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "shown", "latex"),
    [
        ("M(n, p - 2) + T(n)", "M(n, p − 2) + T(n)", "M(n, p - 2) + T(n)"),
        ("ceil(log2(p)) * T(n)", "⌈log₂ p⌉ T(n)", r"\lceil \log_2 p \rceil\,T(n)"),
        ("(p - 1) / (2 * p)", "(p − 1) / (2 p)", r"\frac{p - 1}{2\,p}"),
        ("p - (n - 1)", "p − (n − 1)", "p - (n - 1)"),
        ("-(p + 1) ** 2", "−(p + 1)^2", "-(p + 1)^{2}"),
        ("floor(log2(p - 1))", "⌊log₂ (p − 1)⌋", r"\lfloor \log_2 (p - 1) \rfloor"),
        ("sqrt(p / 2)", "√(p / 2)", r"\sqrt{\frac{p}{2}}"),
        ("min(n, B)", "min(n, B)", r"\min(n, B)"),
        ("0.5 * n", "0.5 n", r"0.5\,n"),
    ],
)
def test_costs_are_printed_for_people(text: str, shown: str, latex: str) -> None:
    cost = parse(text)
    assert (cost.as_text(), cost.as_latex()) == (shown, latex)
    assert parse(cost.as_python()).as_text() == shown


def test_the_printed_function_gives_the_same_numbers() -> None:
    cost = parse(PIPELINED)
    names: dict[str, object] = {}
    exec(python_function("binary", cost), names)
    function = names["binary"]
    assert callable(function)
    for p, n in ((2, 0), (3, 8192), (17, 100_000)):
        expected = cost.value(p, n, {"T": message, "M": fan})
        assert function(p, n, M=fan, T=message) == pytest.approx(float(expected), rel=1e-14)


def test_parts_that_a_cost_takes() -> None:
    assert parse(PIPELINED).parts() == {"T", "M"}
    assert parse("max(p, 1)").parts() == set()
    assert not set(PARTS) & set(FUNCTIONS)
