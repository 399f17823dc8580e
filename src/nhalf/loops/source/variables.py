"""Variables and types from declarations: numbers, arrays and pointers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pycparser import c_ast

SIZES_BYTES = {"char": 1, "_Bool": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8}
FLOATING_POINT = {"float", "double"}
UNDECLARED = "undeclared_"
"""Begins the tags of structures that stand for types of missing headers."""
Where = Literal["global", "parameter", "local"]


@dataclass(frozen=True)
class Element:
    """The type of an element; `size_bytes` is 0 if it is not a number, such as a structure, whose
    `members` are known where it was declared.
    """

    is_floating_point: bool
    size_bytes: int
    type_name: str = ""
    members: tuple[Variable, ...] = ()


@dataclass(frozen=True)
class Variable:
    """A variable: `rank` subscripts lead to a number; `extents` are the lengths of its arrays.

    With `is_pointer` it was declared with a `*`, so that it may overlap other arrays, unless
    `is_restrict` is set; an array that is a parameter overlaps nothing.
    """

    name: str
    element: Element
    where: Where
    extents: tuple[Any, ...] = ()
    is_pointer: bool = False
    is_restrict: bool = False
    levels: int = 0

    @property
    def rank(self) -> int:
        """The number of its subscripts."""
        return len(self.extents) + self.levels

    @property
    def may_overlap(self) -> bool:
        """Whether what it points to may be another array."""
        return self.is_pointer and not self.is_restrict


Types = dict[str, tuple[Element, tuple[Any, ...], int]]
"""Names of types to their element, extents and levels of pointers."""


def variable(declaration: c_ast.Decl, types: Mapping[str, Any], where: Where) -> Variable:
    """The variable that a declaration declares."""
    element, extents, levels = type_of(declaration.type, types)
    inner, is_restrict = declaration.type, False
    while isinstance(inner, c_ast.PtrDecl | c_ast.ArrayDecl):
        quals = inner.quals if isinstance(inner, c_ast.PtrDecl) else inner.dim_quals
        is_restrict = is_restrict or "restrict" in (quals or [])
        inner = inner.type
    return Variable(
        declaration.name or "", element, where, extents, levels > 0, is_restrict, levels
    )


def literal(text: str) -> int:
    """Parse an integer literal of C."""
    digits = text.rstrip("uUlL")
    is_octal = digits.startswith("0") and digits.isdigit()
    return int(digits, 8) if is_octal else int(digits, 0)


def type_of(node: Any, types: Mapping[str, Any]) -> tuple[Element, tuple[Any, ...], int]:
    """The element, extents and levels of a type, or of what has one, such as a typedef."""
    extents: list[Any] = []
    levels = 0
    is_volatile = False
    while hasattr(node, "type") and not isinstance(node, c_ast.IdentifierType):
        is_volatile = is_volatile or "volatile" in (getattr(node, "quals", None) or [])
        if isinstance(node, c_ast.ArrayDecl):
            extents.append(node.dim)
        elif isinstance(node, c_ast.PtrDecl):
            levels += 1
        node = node.type
    if not isinstance(node, c_ast.IdentifierType):
        is_number = isinstance(node, c_ast.Enum)
        tag = getattr(node, "name", None) or ""
        kind = type(node).__name__.lower()
        if tag.startswith(UNDECLARED):
            kind = f"{tag.removeprefix(UNDECLARED)}, which nothing declares"
        element = Element(False, 4 if is_number else 0, kind, _members(node, types))
        return element, tuple(extents), levels
    if is_volatile:
        return Element(False, 0, " ".join(["volatile", *node.names])), tuple(extents), levels
    if len(node.names) == 1 and node.names[0] in types:
        element, more_extents, more_levels = types[node.names[0]]
        return element, (*extents, *more_extents), levels + more_levels
    return _element(node.names), tuple(extents), levels


def _members(node: Any, types: Mapping[str, Any]) -> tuple[Variable, ...]:
    """The members of a structure, which may be declared elsewhere by its name."""
    if not isinstance(node, c_ast.Struct):
        return ()
    if node.decls is None:
        declared = types.get(f"struct {node.name}")
        return declared[0].members if declared else ()
    declarations = (part for part in node.decls if isinstance(part, c_ast.Decl) and part.name)
    return tuple(variable(part, types, "local") for part in declarations)


def _element(names: list[str]) -> Element:
    type_name = " ".join(names)
    sized = [name for name in names if name in SIZES_BYTES]
    signed = {"signed", "unsigned"} & set(names)
    if "_Complex" in names or type_name == "long double" or not (sized or signed):
        return Element(False, 0, type_name)
    size_bytes = max([SIZES_BYTES[name] for name in sized if name != "int"] or [4])
    return Element(bool(FLOATING_POINT & set(names)), size_bytes, type_name)
