# SPDX-License-Identifier: Apache-2.0
"""What variables and elements of arrays are while an iteration is read, and who touched them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nhalf.node.bound.polynomial import VARYING, Polynomial, name
from nhalf.node.bound.refusal import line_of, refused
from nhalf.node.bound.values import Access, Node, Place, Value, Values
from nhalf.node.bound.variables import Variable


@dataclass
class Memory:
    """What is known when an expression is evaluated, and what it leaves behind.

    `known` are present values by name, `memory` what was written to a place by this iteration,
    `changed` the keys of places that any iteration writes.
    """

    variables: Mapping[str, Variable]
    types: Mapping[str, Any]
    known: dict[str, Value] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    values: Values = field(default_factory=Values)
    memory: dict[str, Value] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    guards: int = 0
    unknowns: int = 0

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """What not every iteration does."""
        self.guards += 1
        yield
        self.guards -= 1

    def as_real(self, found: Value, node: Any) -> Node:
        """A value as a real number."""
        if isinstance(found, Place):
            raise refused(node, "a pointer is used as a number")
        if isinstance(found, Polynomial):
            return self.values.leaf("integer", found.key, found.varies)
        return found

    def unknown(self, varies: bool = True) -> Polynomial:
        """A whole number of which nothing is known."""
        self.unknowns += 1
        return name(f"{VARYING if varies else ''}unknown({self.unknowns})")

    def of(self, called: str, node: Any) -> Variable:
        """The variable of a name."""
        if called not in self.variables:
            raise refused(node, f"{called} is not declared")
        found = self.variables[called]
        if not found.rank and not found.element.size_bytes:
            raise refused(node, f"{called} is of type {found.element.says}")
        return found

    def initial(self, of: Variable) -> Value:
        """What stands for a variable of which nothing is known."""
        if of.rank:
            return Place(of.name, (Polynomial(),))
        if of.element.is_real:
            return self.values.leaf("invariant", of.name, False)
        return name(of.name)

    def read(self, place: Place, node: Any) -> Value:
        """The element at a place; a row is where its first element is."""
        of = self._array(place, node)
        if len(place.subscripts) < of.rank:
            return Place(place.base, (*place.subscripts, Polynomial()))
        found = self.memory.get(place.key)
        if found is None:
            found = self._loaded(place, of)
        kept = found if isinstance(found, Node) else None
        self.accesses.append(Access(place, of, False, self.guards > 0, line_of(node), kept))
        return found

    def _array(self, place: Place, node: Any) -> Variable:
        of = self.variables[place.base]
        if of.levels > 1:
            raise refused(
                node,
                f"{of.name} is a pointer to pointers, and its rows may overlap",
                "declare it as an array of arrays",
            )
        if not of.element.size_bytes:
            raise refused(node, f"elements of {of.name} are of type {of.element.says}")
        return of

    def _loaded(self, place: Place, of: Variable) -> Value:
        varies = any(one.varies for one in place.subscripts) or place.key in self.changed
        if of.element.is_real:
            return self.values.leaf("load", place.key, varies)
        return name(f"{VARYING if varies else ''}{place.key}")

    def write(self, place: Place, given: Value, node: Any) -> None:
        """An element gets a value."""
        of = self._array(place, node)
        if len(place.subscripts) < of.rank:
            raise refused(node, f"a row of {of.name} is assigned")
        value: Value = (
            self.as_real(given, node) if of.element.is_real else self.as_whole(given, node)
        )
        kept = value if isinstance(value, Node) else None
        if kept is not None:
            self.values.roots.append(kept)
        self.memory[place.key] = value
        self.accesses.append(Access(place, of, True, self.guards > 0, line_of(node), kept))

    def as_whole(self, given: Value, node: Any) -> Polynomial:
        """A value as a whole number."""
        if isinstance(given, Place):
            raise refused(node, "a pointer is used as a number")
        if isinstance(given, Node):
            self.values.roots.append(given)
            return name(f"{VARYING if given.varies else ''}whole({id(given)})")
        return given
