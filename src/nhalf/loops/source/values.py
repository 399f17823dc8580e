"""Values that one iteration of a loop computes; equal values are one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nhalf.loops.source.polynomial import Polynomial
from nhalf.loops.source.variables import Variable

Kind = Literal[
    "invariant",
    "carried",
    "load",
    "integer",
    "select",
    "absolute",
    "negate",
    "add",
    "subtract",
    "multiply",
    "divide",
    "square_root",
    "fused_multiply_add",
]
ARITHMETIC = {"add", "subtract", "multiply", "divide", "square_root", "fused_multiply_add"}
COMMUTATIVE = {"add", "multiply"}


@dataclass(eq=False)
class ValueNode:
    """A floating-point value: its operation and arguments, whether it varies between iterations,
    and whether every iteration computes it (`counted`).
    """

    kind: Kind
    name: str
    arguments: tuple[ValueNode, ...]
    varies: bool
    counted: bool = False


@dataclass(frozen=True)
class PointerTarget:
    """The target of a pointer: an element, or a row, of the array `base`."""

    base: str
    subscripts: tuple[Polynomial, ...]

    def moved(self, by: Polynomial) -> PointerTarget:
        """The place `by` elements further on."""
        return PointerTarget(self.base, (*self.subscripts[:-1], self.subscripts[-1] + by))

    @property
    def key(self) -> str:
        """A text that is equal for equal places only."""
        return f"{self.base}[{']['.join(subscript.key for subscript in self.subscripts)}]"


Value = ValueNode | Polynomial | PointerTarget


@dataclass(frozen=True)
class Access:
    """An element that an iteration reads or writes; `node` is what was read or written.

    `guarded` accesses are made by some iterations only.
    """

    place: PointerTarget
    array: Variable
    is_write: bool
    guarded: bool
    line: int
    node: ValueNode | None


@dataclass
class Values:
    """The nodes of an iteration by content; `roots` are those that are stored or compared.

    `needed` are the roots that every iteration needs.
    """

    nodes: dict[tuple[object, ...], ValueNode] = field(default_factory=dict)
    roots: list[ValueNode] = field(default_factory=list)
    needed: list[ValueNode] = field(default_factory=list)

    def take(self, leaves: Iterable[ValueNode]) -> None:
        """Add leaves of another reading."""
        self.nodes |= {(node.kind, node.name): node for node in leaves if not node.arguments}

    def leaf(self, kind: Kind, name: str, varies: bool) -> ValueNode:
        """A value that the iteration does not compute."""
        return self._node(kind, name, (), varies)

    def operation(self, kind: Kind, arguments: Sequence[ValueNode], counted: bool) -> ValueNode:
        """The result of an operation; that of invariant values is computed before the loop."""
        varies = any(argument.varies for argument in arguments)
        if not varies:
            return self._node("invariant", kind, tuple(arguments), False)
        node = self._node(kind, "", tuple(arguments), True)
        node.counted = node.counted or counted
        return node

    def _node(
        self, kind: Kind, name: str, arguments: tuple[ValueNode, ...], varies: bool
    ) -> ValueNode:
        argument_ids = [*map(id, arguments)]
        key = (kind, name, *(sorted(argument_ids) if kind in COMMUTATIVE else argument_ids))
        if key not in self.nodes:
            self.nodes[key] = ValueNode(kind, name, arguments, varies)
        return self.nodes[key]

    def counted(self) -> Iterator[ValueNode]:
        """The operations that every iteration executes."""
        return (node for node in self.nodes.values() if node.counted and node.kind in ARITHMETIC)

    def use(self, node: ValueNode, is_always_needed: bool) -> None:
        """Say that a value is compared or converted, in every iteration or in some."""
        self.roots.append(node)
        if is_always_needed:
            self.needed.append(node)

    def uses(self) -> dict[int, int]:
        """The count of uses of each node, by its id."""
        uses: dict[int, int] = {}
        varying = [node for node in self.nodes.values() if node.varies]
        used = [argument for node in varying for argument in node.arguments]
        for node in (*used, *self.roots):
            uses[id(node)] = uses.get(id(node), 0) + 1
        return uses
