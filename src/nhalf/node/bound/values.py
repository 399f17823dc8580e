# SPDX-License-Identifier: Apache-2.0
"""Values that one iteration of a loop computes, each made once: what equals is one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nhalf.node.bound.polynomial import Polynomial
from nhalf.node.bound.variables import Variable

Kind = Literal[
    "invariant",
    "carried",
    "load",
    "integer",
    "select",
    "same",
    "negate",
    "add",
    "subtract",
    "multiply",
    "divide",
    "square_root",
    "fused_multiply_add",
]
ARITHMETIC = {"add", "subtract", "multiply", "divide", "square_root", "fused_multiply_add"}


@dataclass(eq=False)
class Node:
    """A real value: what it is made of, whether it differs between iterations, and if every
    iteration computes it (`counted`).
    """

    kind: Kind
    name: str
    arguments: tuple[Node, ...]
    varies: bool
    counted: bool = False


@dataclass(frozen=True)
class Place:
    """Where a pointer points: into the array `base`, at an element or at a row of it."""

    base: str
    subscripts: tuple[Polynomial, ...]

    def moved(self, by: Polynomial) -> Place:
        """Further on."""
        return Place(self.base, (*self.subscripts[:-1], self.subscripts[-1] + by))

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.base}[{']['.join(one.key for one in self.subscripts)}]"


Value = Node | Polynomial | Place


@dataclass(frozen=True)
class Access:
    """An element that an iteration reads or writes; `node` is what was read or written.

    `guarded` are those that not every iteration makes.
    """

    place: Place
    of: Variable
    is_write: bool
    guarded: bool
    line: int
    node: Node | None


@dataclass
class Values:
    """The nodes of an iteration by what they are, and `roots`: what is kept or decided of them."""

    nodes: dict[tuple[object, ...], Node] = field(default_factory=dict)
    roots: list[Node] = field(default_factory=list)

    def take(self, leaves: Iterable[Node]) -> None:
        """Leaves that were made elsewhere."""
        self.nodes |= {(node.kind, node.name): node for node in leaves if not node.arguments}

    def leaf(self, kind: Kind, name: str, varies: bool) -> Node:
        """A value that is not computed here."""
        return self._made(kind, name, (), varies)

    def operation(self, kind: Kind, arguments: Sequence[Node], counted: bool) -> Node:
        """What an operation makes; of values that never change it is computed before the loop."""
        varies = any(one.varies for one in arguments)
        if not varies:
            return self._made("invariant", kind, tuple(arguments), False)
        node = self._made(kind, "", tuple(arguments), True)
        node.counted = node.counted or counted
        return node

    def _made(self, kind: Kind, name: str, arguments: tuple[Node, ...], varies: bool) -> Node:
        key = (kind, name, *map(id, arguments))
        if key not in self.nodes:
            self.nodes[key] = Node(kind, name, arguments, varies)
        return self.nodes[key]

    def counted(self) -> Iterator[Node]:
        """The operations that every iteration makes."""
        return (node for node in self.nodes.values() if node.counted and node.kind in ARITHMETIC)

    def uses(self) -> dict[int, int]:
        """How often each node is used, by its id."""
        found: dict[int, int] = {}
        varying = [node for node in self.nodes.values() if node.varies]
        used = [argument for node in varying for argument in node.arguments]
        for node in (*used, *self.roots):
            found[id(node)] = found.get(id(node), 0) + 1
        return found
