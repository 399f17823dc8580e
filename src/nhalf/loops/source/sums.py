# SPDX-License-Identifier: Apache-2.0
"""Sums of several terms in any order and association, to count fusible multiply-adds.

A sum within a sum is part of it where nothing else uses it, so that each product is fused with an
addition wherever there is one. Fortran allows compilers to reorder sums in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nhalf.loops.source.values import Node

ADDITIONS = {"add", "subtract"}


@dataclass(frozen=True)
class Sum:
    """A sum, by its last addition: products that nothing else uses, and other terms.

    All loop-invariant terms count as one.
    """

    root: Node
    products: tuple[Node, ...]
    other_terms: tuple[Node, ...]

    @property
    def additions(self) -> int:
        """The count of additions: one less than the terms."""
        return len(self.products) + len(self.other_terms) - 1

    @property
    def fused(self) -> int:
        """The count of products that can be fused with an addition."""
        return min(len(self.products), self.additions)


def sums(counted: Iterable[Node], uses: Mapping[int, int]) -> dict[int, Sum]:
    """The sums among operations, by the id of their last addition."""
    additions = [node for node in counted if node.kind in ADDITIONS]
    absorbed = {
        id(term) for node in additions for term in map(_bare, node.arguments)
        if _is_inner(term, uses)
    }  # fmt: skip
    return {id(node): _sum(node, uses) for node in additions if id(node) not in absorbed}


def _sum(root: Node, uses: Mapping[int, int]) -> Sum:
    products: list[Node] = []
    other_terms: list[Node] = []
    invariant_terms: list[Node] = []
    pending = list(root.arguments)
    while pending:
        signed = pending.pop(0)
        term = _bare(signed)
        if _is_inner(term, uses):
            pending = [*term.arguments, *pending]
        elif not term.varies:
            invariant_terms.append(term)
        elif term.kind == "multiply" and term.counted and uses.get(id(term), 0) == 1:
            products.append(term)
        else:
            other_terms.append(term)
    return Sum(root, tuple(products), (*other_terms, *invariant_terms[:1]))


def _bare(node: Node) -> Node:
    """A term without its signs."""
    while node.kind == "negate":
        (node,) = node.arguments
    return node


def _is_inner(node: Node, uses: Mapping[int, int]) -> bool:
    return node.kind in ADDITIONS and node.counted and uses.get(id(node), 0) == 1
