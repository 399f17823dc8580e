"""Integer polynomials in symbols: the values of subscripts, as far as the source says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ITERATION = "#"
"""The number of the iteration, 0 for the first."""
VARYING = "~"
"""Prefix of the names of unknowns that differ between iterations."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of names with integer factors; `terms` has no factor of 0."""

    terms: tuple[tuple[tuple[str, ...], int], ...] = field(default=())

    @classmethod
    def of(cls, terms: Mapping[tuple[str, ...], int]) -> Polynomial:
        """Build a polynomial from its terms: names, in any order, to their factor."""
        summed: dict[tuple[str, ...], int] = {}
        for names, factor in terms.items():
            key = tuple(sorted(names))
            summed[key] = summed.get(key, 0) + factor
        return cls(tuple(sorted((key, factor) for key, factor in summed.items() if factor)))

    def __add__(self, other: Polynomial) -> Polynomial:
        summed = dict(self.terms)
        for names, factor in other.terms:
            summed[names] = summed.get(names, 0) + factor
        return Polynomial.of(summed)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((names, -factor) for names, factor in self.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        product = Polynomial()
        for names, factor in self.terms:
            for other_names, other_factor in other.terms:
                product += Polynomial.of({names + other_names: factor * other_factor})
        return product

    def __str__(self) -> str:
        words = []
        for names, factor in self.terms:
            product = "*".join(name.split("@")[0] for name in names)
            sign = "-" if factor < 0 else "+"
            amount = "*".join(filter(None, [str(abs(factor)) if abs(factor) > 1 else "", product]))
            words.append(f"{sign} {amount or abs(factor)}")
        return " ".join(words).removeprefix("+ ").replace("- ", "-", 1) if words else "0"

    @property
    def key(self) -> str:
        """A text that is equal for equal polynomials only."""
        return "+".join(f"{factor}*{'*'.join(names)}" for names, factor in self.terms)

    @property
    def names(self) -> set[str]:
        """All names in it."""
        return {name for names, _ in self.terms for name in names}

    @property
    def constant(self) -> int | None:
        """Its value where it has no name in it."""
        return None if self.names else sum(factor for _, factor in self.terms)

    @property
    def varies(self) -> bool:
        """Whether it differs between iterations."""
        return any(name.startswith((ITERATION, VARYING)) for name in self.names)

    @property
    def is_indirect(self) -> bool:
        """Whether it differs between iterations in a way that the source does not determine."""
        is_nonlinear = any(names.count(ITERATION) > 1 for names, _ in self.terms)
        return is_nonlinear or any(name.startswith(VARYING) for name in self.names)

    @property
    def may_stay_unchanged(self) -> bool:
        """Whether it is the value of a variable that an iteration may leave unchanged."""
        return any(name.startswith(VARYING) and name[1:].isidentifier() for name in self.names)

    def step(self) -> Polynomial:
        """By how much it grows in an iteration."""
        return Polynomial.of(
            {_without(names): factor for names, factor in self.terms if ITERATION in names}
        )

    def start(self) -> Polynomial:
        """Its value in the first iteration."""
        return Polynomial(
            tuple((names, factor) for names, factor in self.terms if ITERATION not in names)
        )

    def multiple_of(self, divisor: Polynomial) -> int | None:
        """Its quotient by `divisor`, if that is the same integer for any values of its names."""
        if not divisor.terms:
            return 0 if not self.terms else None
        if not self.terms:
            return 0
        names, factor = divisor.terms[0]
        times, remainder = divmod(dict(self.terms).get(names, 0), factor)
        return times if remainder == 0 and integer(times) * divisor == self else None


def _without(names: tuple[str, ...]) -> tuple[str, ...]:
    remaining = list(names)
    remaining.remove(ITERATION)
    return tuple(remaining)


def integer(value: int) -> Polynomial:
    """A constant polynomial."""
    return Polynomial.of({(): value})


def symbol(text: str) -> Polynomial:
    """A polynomial that is one symbol."""
    return Polynomial.of({(text,): 1})
