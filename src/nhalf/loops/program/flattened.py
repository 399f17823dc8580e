"""Loops without structures and calls: members become variables and arrays of their own, and what a
function returns takes the place of its call.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.structure import SourceFunction, arguments, called, path_of
from nhalf.loops.source.variables import Element, Variable, literal

POINTER_BYTES = 8


def size_bytes(element: Element, extents: tuple[Any, ...] = (), levels: int = 0) -> int:
    """The size of a type; 0 if it is unknown."""
    size = POINTER_BYTES if levels else element.size_bytes or offsets(element)[""]
    for extent in extents:
        size *= literal(extent.value) if isinstance(extent, c_ast.Constant) else 0
    return size


def offsets(element: Element) -> dict[str, int]:
    """Where in a structure each member begins, in bytes; by '' where the next structure does."""
    begins = {"": 0}
    for member in element.members:
        begins[member.name] = begins[""] + -begins[""] % _alignment(member)
        size = size_bytes(member.element, member.extents, member.levels)
        begins[""] = begins[member.name] + size
    begins[""] += -begins[""] % max(map(_alignment, element.members), default=1)
    return begins


def _alignment(member: Variable) -> int:
    own = POINTER_BYTES if member.levels else member.element.size_bytes
    return own or max(map(_alignment, member.element.members), default=1)


@dataclass
class Flattened:
    """Makes loops flat; `variables` are those that can be visible there, and get further ones.

    An array of structures becomes one of numbers, of which each has its place there: p[i].mass is
    p[4 * i + 3]. Other members are variables: grid->width is grid.width.
    """

    variables: dict[str, Variable]
    functions: Mapping[str, SourceFunction]
    within: frozenset[str] = frozenset()

    def __call__(self, node: Any, meanings: Mapping[str, Any] | None = None) -> Any:
        """A copy of a part of a tree; names with meanings are replaced by them."""
        meanings = meanings or {}
        if isinstance(node, list):
            return [self(part, meanings) for part in node]
        if not isinstance(node, c_ast.Node):
            return node
        if isinstance(node, c_ast.ID) and node.name in meanings:
            return meanings[node.name]
        changed = copy.copy(node)
        for slot in node.__slots__:
            if slot not in ("coord", "__weakref__", "field"):
                setattr(changed, slot, self(getattr(node, slot), meanings))
        if isinstance(changed, (c_ast.StructRef, c_ast.ArrayRef)):
            return self._element(changed) or self._variable(changed) or changed
        if isinstance(changed, c_ast.FuncCall):
            return self._returned(changed) or changed
        return (
            self._copied(changed) or changed if isinstance(changed, c_ast.Assignment) else changed
        )

    def _structures(self, node: Any) -> Variable | None:
        """The array of structures of which a part is an element."""
        if isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID):
            array = self.variables.get(node.name.name)
            return array if array and array.rank == 1 and array.element.members else None
        return None

    def _element(self, node: Any) -> Any:
        """A member of an element of an array of structures, or an element of such a member."""
        further, owner = None, node
        if isinstance(node, c_ast.ArrayRef):
            further, owner = node.subscript, node.name
        array = self._structures(owner.name) if isinstance(owner, c_ast.StructRef) else None
        members = {own.name: own for own in array.element.members} if array else {}
        member = members.get(owner.field.name) if members else None
        if array is None or member is None or member.rank != (further is not None):
            return None
        own = member.element.size_bytes
        whole = size_bytes(array.element)
        if not own or whole % own:
            return None
        name = f"{array.name} {member.element.type_name}"
        self.variables[name] = replace(array, name=name, element=member.element)
        at: Any = c_ast.Constant("int", str(offsets(array.element)[member.name] // own))
        at = c_ast.BinaryOp("+", at, further) if further is not None else at
        begin = c_ast.BinaryOp("*", owner.name.subscript, c_ast.Constant("int", str(whole // own)))
        return c_ast.ArrayRef(
            c_ast.ID(name, node.coord), c_ast.BinaryOp("+", begin, at), node.coord
        )

    def _variable(self, node: Any) -> c_ast.ID | None:
        """A member of a structure that is no element of an array."""
        if not isinstance(node, c_ast.StructRef) or not isinstance(node.name, c_ast.ID):
            return None
        owner = self.variables.get(node.name.name)
        for member in owner.element.members if owner else ():
            if member.name == node.field.name:
                name = path_of(node)
                self.variables[name] = replace(member, name=name, is_pointer=member.levels > 0)
                return c_ast.ID(name, node.coord)
        return None

    def _copied(self, node: c_ast.Assignment) -> c_ast.ExprList | None:
        """The members of a structure that is assigned to another one."""
        array = self._structures(node.lvalue)
        if array is None or self._structures(node.rvalue) is None:
            return None
        return c_ast.ExprList([
            c_ast.Assignment("=", *(self._element(c_ast.StructRef(
                side, ".", c_ast.ID(member.name, node.coord), node.coord))
                for side in (node.lvalue, node.rvalue)), node.coord)
            for member in array.element.members if not member.rank
        ], node.coord)  # fmt: skip

    def _returned(self, node: c_ast.FuncCall) -> Any:
        """What a function returns that only computes that; None of others."""
        name, values = called(node), arguments(node)
        function = self.functions.get(name)
        if function is None or name in self.within or len(values) != len(function.parameters):
            return None
        *first, last = function.node.body.block_items or [None]
        if not isinstance(last, c_ast.Return) or last.expr is None:
            return None
        meanings = dict(zip(function.parameters, values, strict=True))
        visible = {**self.variables, **function.variables}
        inner = Flattened(visible, self.functions, self.within | {name})
        for part in first:
            if not isinstance(part, c_ast.Decl) or part.init is None:
                return None
            meanings[part.name] = inner(part.init, meanings)
        return inner(last.expr, meanings)
