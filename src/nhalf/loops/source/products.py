"""Products and quotients in any order and association: the fewest multiplications and divisions.

A product within a product is part of it, and its invariant factors are one, computed before the
loop. Products that have factors in common may share their product. A quotient by an invariant is a
product; of quotients by the same value one divides, and the others multiply by its inverse.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nhalf.loops.source.values import ValueNode

PRODUCTS = {"multiply", "divide"}
FOLDED: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negate": operator.neg,
}
"""Operations on numbers that the source gives."""


@dataclass(frozen=True)
class Monomial:
    """Factors by the ids of their nodes, with their powers: those of a quotient are negative.

    `scale` has the ids of invariant factors that have no value in the source; together with
    `coefficient_ratio`, the value of all others, they need one multiplication.
    """

    powers: frozenset[tuple[int, int]] = frozenset()
    scale: frozenset[tuple[int, int]] = frozenset()
    coefficient_ratio: float = 1.0

    @property
    def unsigned(self) -> Monomial:
        """The monomial without its sign: a change of sign costs nothing."""
        return replace(self, coefficient_ratio=abs(self.coefficient_ratio))

    @property
    def is_scaled(self) -> bool:
        """Whether an invariant factor has to be multiplied."""
        return bool(self.scale) or abs(self.coefficient_ratio) != 1.0

    @property
    def multiplied(self) -> dict[int, int]:
        """The factors of the numerator, of which the scale is one."""
        scale = {0: 1} if self.is_scaled else {}
        return {key: power for key, power in self.powers if power > 0} | scale

    @property
    def divided(self) -> dict[int, int]:
        """The factors of the denominator."""
        return {key: -power for key, power in self.powers if power < 0}

    @property
    def degree(self) -> int:
        """The count of its factors."""
        return sum(abs(power) for _, power in self.powers)

    @property
    def is_product(self) -> bool:
        """Whether its last operation can be a multiplication."""
        return fewest_products(self.multiplied) > 0

    def times(self, second: Monomial, sign: int) -> Monomial:
        """The product with another one, or with sign -1 the quotient."""
        is_finite = sign > 0 or second.coefficient_ratio != 0
        return Monomial(
            _combined(self.powers, second.powers, sign),
            _combined(self.scale, second.scale, sign),
            self.coefficient_ratio * second.coefficient_ratio**sign if is_finite else 0.0,
        )


def value_of(node: ValueNode) -> float | None:
    """The value of an invariant that the source says; None for others."""
    if node.varies:
        return None
    if not node.arguments:
        return _literal(node)
    numbers = [value_of(argument) for argument in node.arguments]
    operation = FOLDED.get(node.name)
    if operation is None or None in numbers:
        return None
    try:
        return operation(*numbers)
    except (ZeroDivisionError, OverflowError):
        return None


def _literal(node: ValueNode) -> float | None:
    text = node.name.rstrip("*") if node.kind == "integer" else node.name.rstrip("fFlL")
    try:
        return float(text or "0") if text[:1] in "0123456789.-" else None
    except ValueError:
        return None


@dataclass
class Monomials:
    """The monomials of nodes, each made once; `single` gives those of sums of one term."""

    single: Callable[[ValueNode], Monomial | None] = lambda node: None
    by_node: dict[int, Monomial] = field(default_factory=dict)

    def of(self, node: ValueNode) -> Monomial:
        """The monomial of a value; of a sum, or of anything else, it is that value alone."""
        if id(node) not in self.by_node:
            self.by_node[id(node)] = self._made(node)
        return self.by_node[id(node)]

    def _made(self, node: ValueNode) -> Monomial:
        if node.kind == "negate":
            inner = self.of(node.arguments[0])
            return replace(inner, coefficient_ratio=-inner.coefficient_ratio)
        if not node.varies:
            value = value_of(node)
            if value is not None:
                return Monomial(coefficient_ratio=value)
            return Monomial(scale=frozenset({(id(node), 1)}))
        if node.kind in PRODUCTS and node.counted:
            first, second = map(self.of, node.arguments)
            return first.times(second, 1 if node.kind == "multiply" else -1)
        return self.single(node) or Monomial(frozenset({(id(node), 1)}))


def _combined(
    first: frozenset[tuple[int, int]], second: frozenset[tuple[int, int]], sign: int
) -> frozenset[tuple[int, int]]:
    powers = Counter(dict(first))
    for key, power in second:
        powers[key] += sign * power
    return frozenset((key, power) for key, power in powers.items() if power)


def fewest_products(powers: Mapping[int, int]) -> int:
    """The fewest multiplications that make a product of powers (Olivos, J. Algorithms 2, 1981).

    One joins each further factor, and each doubles the highest power at most.
    """
    return len(powers) - 1 + (max(powers.values()) - 1).bit_length() if powers else 0


@dataclass
class Needed:
    """Multiplications and divisions of monomials, without what others have computed already."""

    multiplications: dict[Monomial, int]
    divisions: int


def needed(monomials: Iterable[Monomial], terms: Collection[Monomial]) -> Needed:
    """The fewest operations for these monomials, of which `terms` are only added to others.

    Terms with the same divisor may be added before they are divided.
    """
    multiplications: dict[Monomial, int] = {}
    holders: dict[int, list[int]] = {}
    monomials_in_order = sorted(set(monomials), key=lambda monomial: -monomial.degree)
    of_divisor: dict[frozenset[tuple[int, int]], list[Monomial]] = {}
    for number, monomial in enumerate(monomials_in_order):
        count = fewest_products(monomial.multiplied) + fewest_products(monomial.divided)
        count -= _shared(monomial, monomials_in_order, holders)
        least = 1 if monomial.is_product else 0
        if monomial.divided:
            divisor = frozenset(monomial.divided.items())
            alike = of_divisor.setdefault(divisor, [])
            is_other = monomial not in terms and not any(
                _is_part(monomial, second) for second in alike
            )
            least = int(bool(alike) and is_other)
            alike.append(monomial)
        multiplications[monomial] = max(count, least)
        for key, _ in monomial.powers:
            holders.setdefault(key, []).append(number)
    return Needed(multiplications, len(of_divisor))


def _is_part(monomial: Monomial, second: Monomial) -> bool:
    """Whether another quotient by the same value can be a multiple of this one."""
    multiplied = dict(second.powers)
    return all(multiplied.get(key, 0) >= power for key, power in monomial.powers if power > 0) and (
        not monomial.is_scaled or second.is_scaled
    )


def _shared(monomial: Monomial, monomials: list[Monomial], holders: Mapping[int, list[int]]) -> int:
    """How many multiplications others may have computed: one less than each has in common."""
    numbers = {number for key, _ in monomial.powers for number in holders.get(key, ())}
    shared = 0
    for number in numbers:
        second = monomials[number]
        powers = dict(second.powers)
        for sign in (1, -1):
            overlap = sum(
                min(sign * power, sign * powers.get(key, 0))
                for key, power in monomial.powers
                if sign * power > 0 and sign * powers.get(key, 0) > 0
            )
            is_scaled = sign > 0 and monomial.is_scaled and _scale(monomial) == _scale(second)
            shared += max(0, overlap + is_scaled - 1)
    return shared


def _scale(monomial: Monomial) -> tuple[frozenset[tuple[int, int]], float]:
    return monomial.scale, abs(monomial.coefficient_ratio)
