# SPDX-License-Identifier: Apache-2.0
"""Sums of several terms, in any order and with any brackets: what can be fused with products.

A sum within a sum is part of it where nothing else uses it, so that a product finds an addition
wherever there is one. Fortran lets compilers do so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nhalf.node.bound.values import Node

ADDITIONS = {"add", "subtract"}


@dataclass(frozen=True)
class Sum:
    """A sum by its last addition: products that nothing else uses, and other terms.

    Terms that no iteration changes are one.
    """

    root: Node
    products: tuple[Node, ...]
    others: tuple[Node, ...]

    @property
    def additions(self) -> int:
        """How many numbers are added, less one."""
        return len(self.products) + len(self.others) - 1

    @property
    def fused(self) -> int:
        """How many products can be added in one instruction with their making."""
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
    others: list[Node] = []
    fixed: list[Node] = []
    ahead = list(root.arguments)
    while ahead:
        signed = ahead.pop(0)
        term = _bare(signed)
        if _is_inner(term, uses):
            ahead = [*term.arguments, *ahead]
        elif not term.varies:
            fixed.append(term)
        elif term.kind == "multiply" and term.counted and uses.get(id(term), 0) == 1:
            products.append(term)
        else:
            others.append(term)
    return Sum(root, tuple(products), (*others, *fixed[:1]))


def _bare(node: Node) -> Node:
    """A term without its signs."""
    while node.kind == "negate":
        (node,) = node.arguments
    return node


def _is_inner(node: Node, uses: Mapping[int, int]) -> bool:
    return node.kind in ADDITIONS and node.counted and uses.get(id(node), 0) == 1
