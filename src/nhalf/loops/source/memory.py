"""Values of variables and elements of arrays while an iteration is read, and its accesses."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nhalf.loops.source.polynomial import VARYING, Polynomial, symbol
from nhalf.loops.source.refusal import line_of, refused
from nhalf.loops.source.values import Access, PointerTarget, Value, ValueNode, Values
from nhalf.loops.source.variables import Variable

GUARDED = 0.5
"""The share of iterations that execute what is under a condition: which do is unknown."""


@dataclass
class Memory:
    """The state in which an expression is evaluated, and which it changes.

    `variable_values` are the present values by name, `memory` the values that this iteration wrote
    to places, `changed` the keys of places that any iteration writes.
    """

    variables: Mapping[str, Variable]
    types: Mapping[str, Any]
    variable_values: dict[str, Value] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    values: Values = field(default_factory=Values)
    memory: dict[str, Value] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    guards: int = 0
    unknowns: int = 0
    plain_per_iteration: dict[str, float] = field(default_factory=dict)
    """Operations without a node by name: on integers that vary, but for subscripts, and
    comparisons.
    """

    def count_plain(self, name: str) -> None:
        """Count an operation without a node, half where only some iterations execute it."""
        share = GUARDED if self.guards else 1
        self.plain_per_iteration[name] = self.plain_per_iteration.get(name, 0) + share

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Evaluate what only some iterations execute."""
        self.guards += 1
        yield
        self.guards -= 1

    def as_floating_point(self, value: Value, node: Any) -> ValueNode:
        """Convert a value to floating point."""
        if isinstance(value, PointerTarget):
            raise refused(node, "a pointer is used as a number")
        if isinstance(value, Polynomial):
            return self.values.leaf("integer", value.key, value.varies)
        return value

    def unknown(self, varies: bool = True) -> Polynomial:
        """An unknown integer."""
        self.unknowns += 1
        return symbol(f"{VARYING if varies else ''}unknown({self.unknowns})")

    def declared(self, name: str, node: Any) -> Variable:
        """The variable that is declared under a name."""
        if name not in self.variables:
            raise refused(node, f"{name} is not declared")
        variable = self.variables[name]
        if not variable.rank and not variable.element.size_bytes:
            raise refused(node, f"{name} is of type {variable.element.type_name}")
        return variable

    def initial(self, variable: Variable) -> Value:
        """The symbolic value of a variable of which nothing is known."""
        if variable.rank:
            return PointerTarget(variable.name, (Polynomial(),))
        if variable.element.is_floating_point:
            return self.values.leaf("invariant", variable.name, False)
        return symbol(variable.name)

    def read(self, place: PointerTarget, node: Any) -> Value:
        """Read the element at a place; a row is the place of its first element."""
        array = self._array(place, node)
        if len(place.subscripts) < array.rank:
            return PointerTarget(place.base, (*place.subscripts, Polynomial()))
        value = self.memory.get(place.key)
        if value is None:
            value = self._loaded(place, array)
        node_read = value if isinstance(value, ValueNode) else None
        self.accesses.append(Access(place, array, False, self.guards > 0, line_of(node), node_read))
        return value

    def _array(self, place: PointerTarget, node: Any) -> Variable:
        array = self.variables[place.base]
        if array.levels > 1:
            reason = f"{array.name} is a pointer to pointers, and its rows may overlap"
            raise refused(node, reason, "declare it as an array of arrays")
        if not array.element.size_bytes:
            raise refused(node, f"elements of {array.name} are of type {array.element.type_name}")
        return array

    def _loaded(self, place: PointerTarget, array: Variable) -> Value:
        moves = any(subscript.varies for subscript in place.subscripts)
        varies = moves or place.key in self.changed
        if array.element.is_floating_point:
            return self.values.leaf("load", place.key, varies)
        return symbol(f"{VARYING if varies else ''}{place.key}")

    def write(self, place: PointerTarget, new_value: Value, node: Any) -> None:
        """Write a value to an element."""
        array = self._array(place, node)
        if len(place.subscripts) < array.rank:
            raise refused(node, f"a row of {array.name} is assigned")
        is_floating_point = array.element.is_floating_point
        convert = self.as_floating_point if is_floating_point else self.as_integer
        value: Value = convert(new_value, node)
        node_written = value if isinstance(value, ValueNode) else None
        if node_written is not None:
            self.values.roots.append(node_written)
        self.memory[place.key] = value
        self.accesses.append(
            Access(place, array, True, self.guards > 0, line_of(node), node_written)
        )

    def as_integer(self, value: Value, node: Any) -> Polynomial:
        """Convert a value to an integer."""
        if isinstance(value, PointerTarget):
            raise refused(node, "a pointer is used as a number")
        if isinstance(value, ValueNode):
            self.values.use(value, self.guards == 0)
            return symbol(f"{VARYING if value.varies else ''}integer({id(value)})")
        return value
