"""Sums of terms in the number of ranks p: 28 p - 9 is {"p": 28, "1": -9}.

The vocabulary is that of the published models: what messages, trees and tables of partners cost.
"""

import math
from collections.abc import Callable, Mapping

from nhalf.base.errors import unknown
from nhalf.base.numbers import format_number

TERMS: dict[str, Callable[[int], float]] = {
    "1": lambda p: 1.0,
    "p": float,
    "p-1": lambda p: float(p - 1),
    "p-2": lambda p: float(p - 2),
    "log2(p)": math.log2,
    "floor(log2(p))": lambda p: float(p.bit_length() - 1),
    "ceil(log2(p))": lambda p: float((p - 1).bit_length()),
    "floor(log2(p))^2": lambda p: float(p.bit_length() - 1) ** 2,
    "sqrt(floor(log2(p)))": lambda p: math.sqrt(p.bit_length() - 1),
    "sqrt(p)": math.sqrt,
    "p^2": lambda p: float(p) ** 2,
    "p^3": lambda p: float(p) ** 3,
    "(p-1)/p": lambda p: (p - 1) / p,
    "p*log2(p)": lambda p: p * math.log2(p),
}
"""Every term by its name: its value for p = 1, 2, 3, ... ranks."""

WORDS = {
    "p": "p",
    "p-1": "(p − 1)",
    "p-2": "(p − 2)",
    "log2(p)": "log₂p",
    "floor(log2(p))": "⌊log₂p⌋",
    "ceil(log2(p))": "⌈log₂p⌉",
    "floor(log2(p))^2": "⌊log₂p⌋²",
    "sqrt(floor(log2(p)))": "√⌊log₂p⌋",
    "sqrt(p)": "√p",
    "p^2": "p²",
    "p^3": "p³",
    "(p-1)/p": "(p − 1)/p",
    "p*log2(p)": "p log₂p",
}
"""The notation of all terms except the constant one."""

Sum = Mapping[str, float]
"""Coefficients by term."""


def check_terms(terms: Sum) -> None:
    """Raise InputError for a term that is unknown."""
    for name in terms:
        if name not in TERMS:
            raise unknown("term", name, TERMS)


def value(terms: Sum, ranks: int) -> float:
    """The sum for this many ranks (1 or more), in the unit of its coefficients."""
    return sum(coefficient * TERMS[name](ranks) for name, coefficient in terms.items())


def in_words(terms: Sum, unit: float, letter: str = "p") -> str:
    """A sum as people write it, its coefficients in units of `unit`: '28 p − 9'; '' for none."""
    text = ""
    for name, coefficient in sorted(terms.items(), key=lambda item: item[0] == "1"):
        sign = "−" if coefficient < 0 else "+"
        number = format_number(abs(coefficient) / unit, 4)
        word = number if name == "1" else f"{number} {WORDS[name].replace('p', letter)}"
        text += f" {sign} {word}" if text else f"{'−' if coefficient < 0 else ''}{word}"
    return text
