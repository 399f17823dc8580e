"""The operations that an iteration cannot do without, whatever order a compiler takes.

Sums and products may be taken in any order and association, equal ones are computed once, and a
product that is only added is part of each addition. Products are not multiplied out, nor are common
factors of a sum put outside.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nhalf.loops.source.products import PRODUCTS, Monomial, Monomials, needed
from nhalf.loops.source.sums import ADDITIONS, Consumers, Sum
from nhalf.loops.source.values import ValueNode

TRIED_MAX = 10
"""All choices of at most this many shared products are tried; the count of more is bounded."""


@dataclass(frozen=True)
class Essential:
    """Operations by name: with multiply-adds, and without."""

    fused: Counter[str]
    unfused: Counter[str]


@dataclass(frozen=True)
class _Terms:
    """The distinct terms of a sum by their monomials, and how many additions join them."""

    products: frozenset[Monomial]
    plain_terms: frozenset[Monomial]
    additions: int


def essential(sums_by_node: Mapping[int, Sum], consumers: Consumers) -> Essential:
    """The fewest operations of each kind."""
    monomials = Monomials(lambda node: _single(node, sums_by_node, monomials))
    elsewhere = _used_elsewhere(consumers, monomials, sums_by_node)
    sums = _with_additions([*sums_by_node.values()], monomials, elsewhere)
    added = {monomial for terms in sums for monomial in terms.products}
    plain_terms = {term for terms in sums for term in terms.plain_terms}
    needs = needed(elsewhere | added | plain_terms, (added | plain_terms) - elsewhere)
    unfused: Counter[str] = Counter(
        node.kind
        for node in consumers.live_operations
        if node.kind not in ADDITIONS and node.kind not in PRODUCTS
    )
    unfused["divide"] += needs.divisions
    fused = Counter(unfused)
    unfused["multiply"] += sum(needs.multiplications.values())
    unfused["add"] += sum(terms.additions for terms in sums)
    absorbed = added - elsewhere
    alone = [terms.products for terms in sums if not terms.plain_terms]
    fused["multiply"] += unfused["multiply"] - len(absorbed) + _computed(alone, absorbed)
    multiply_adds = sum(min(terms.additions, len(terms.products & absorbed)) for terms in sums)
    fused["fused_multiply_add"] += multiply_adds
    fused["add"] += unfused["add"] - multiply_adds
    return Essential(+fused, +unfused)


def _single(
    node: ValueNode, sums_by_node: Mapping[int, Sum], monomials: Monomials
) -> Monomial | None:
    """The monomial of a sum in which one term is left; None for any other value."""
    if id(node) not in sums_by_node:
        return None
    terms = _merged(sums_by_node[id(node)], monomials)
    if len(terms) != 1:
        return None
    ((term, sign),) = terms.items()
    return replace(term, coefficient_ratio=sign * term.coefficient_ratio)


def _used_elsewhere(
    consumers: Consumers, monomials: Monomials, sums_by_node: Mapping[int, Sum]
) -> set[Monomial]:
    """The products, and sums of one term, that anything but a sum or a product uses."""
    used = set()
    for node in consumers.live_operations:
        is_product = node.kind in PRODUCTS or _single(node, sums_by_node, monomials) is not None
        if is_product and any(
            consumer is None or not consumer.counted or consumer.kind not in ADDITIONS | PRODUCTS
            for consumer in consumers.of(node)
        ):
            used.add(monomials.of(node).unsigned)
    return used


def _with_additions(
    sums: Sequence[Sum], monomials: Monomials, elsewhere: set[Monomial]
) -> list[_Terms]:
    """The terms of each sum; equal terms are one, and sums share what they have in common."""
    terms_by_sum: list[_Terms] = []
    held: list[Mapping[object, int]] = []
    holders: dict[object, list[int]] = {}
    for group in sorted(sums, key=lambda group: -len(group.terms)):
        terms = _merged(group, monomials)
        if len(terms) < 2:
            continue
        signs: dict[object, int] = {term: sign for term, sign in terms.items()}
        opposite = {term: -sign for term, sign in signs.items()}
        is_known = signs in held or opposite in held
        additions = max(len(terms) - 1 - _common(signs, held, holders), 0 if is_known else 1)
        for key in signs:
            holders.setdefault(key, []).append(len(held))
        held.append(signs)
        products = frozenset(term for term in terms if term.is_product and term not in elsewhere)
        terms_by_sum.append(_Terms(products, frozenset(terms) - products, additions))
    return terms_by_sum


def _merged(group: Sum, monomials: Monomials) -> dict[Monomial, int]:
    """The terms of a sum with their signs; those of the same factors are one, with a new scale."""
    by_powers: dict[object, list[Monomial]] = {}
    for node, sign in group.terms:
        monomial = monomials.of(node)
        signed = replace(monomial, coefficient_ratio=sign * monomial.coefficient_ratio)
        by_powers.setdefault(monomial.powers, []).append(signed)
    terms: dict[Monomial, int] = {}
    for alike in by_powers.values():
        coefficients: dict[frozenset[tuple[int, int]], float] = {}
        for monomial in alike:
            coefficients.setdefault(monomial.scale, 0.0)
            coefficients[monomial.scale] += monomial.coefficient_ratio
        coefficients = {scale: value for scale, value in coefficients.items() if value}
        if len(coefficients) == 1:
            ((scale, value),) = coefficients.items()
            term = replace(alike[0], scale=scale, coefficient_ratio=value)
            terms[term.unsigned] = 1 if value > 0 else -1
        elif coefficients:
            terms[
                replace(alike[0], scale=frozenset({(id(group.root), 1)}), coefficient_ratio=1.0)
            ] = 1
    return terms


def _common(
    signs: Mapping[object, int],
    held: Sequence[Mapping[object, int]],
    holders: Mapping[object, list[int]],
) -> int:
    """How many additions other sums may have done: one less than the terms in common."""
    alike: dict[int, Counter[int]] = {}
    for key, sign in signs.items():
        for number in holders.get(key, ()):
            alike.setdefault(number, Counter())[sign * held[number][key]] += 1
    return sum(max(0, max(counts.values()) - 1) for counts in alike.values())


def _computed(alone: Sequence[frozenset[Monomial]], absorbed: set[Monomial]) -> int:
    """How many products have to be computed, since each sum of nothing else begins with one."""
    own = [products for products in alone if products <= absorbed]
    shared = [
        monomial
        for monomial, count in Counter(itertools.chain.from_iterable(own)).items()
        if count > 1
    ]
    sums = [products & frozenset(shared) for products in own]
    single = sum(not products for products in sums)
    covering = [products for products in sums if products]
    if len(shared) > TRIED_MAX:
        widest = max(sum(monomial in products for products in covering) for monomial in shared)
        return single + -(-len(covering) // widest)
    for count in range(len(covering) + 1):
        for chosen in itertools.combinations(shared, min(count, len(shared))):
            uncovered = sum(products.isdisjoint(chosen) for products in covering)
            if len(chosen) + uncovered <= count:
                return single + count
    return single + len(covering)
