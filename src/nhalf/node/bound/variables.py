# SPDX-License-Identifier: Apache-2.0
"""What declarations say: which names are numbers, arrays and pointers, and of what type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pycparser import c_ast

SIZES_BYTES = {"char": 1, "_Bool": 1, "short": 2, "int": 4, "float": 4, "long": 8, "double": 8}
REALS = {"float", "double"}
Where = Literal["global", "parameter", "local"]


@dataclass(frozen=True)
class Element:
    """The type of one number; `size_bytes` is 0 for what is not a number, such as a structure."""

    is_real: bool
    size_bytes: int
    says: str = ""


@dataclass(frozen=True)
class Variable:
    """A name: `rank` subscripts lead to a number, and `extents` are the lengths of its arrays.

    With `is_pointer` it was declared with a `*`, so that it may overlap others, unless it is
    `is_restrict`; an array that is a parameter counts as one of its own.
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
        """How many subscripts it takes."""
        return len(self.extents) + self.levels

    @property
    def may_overlap(self) -> bool:
        """Whether what it points to may be another array."""
        return self.is_pointer and not self.is_restrict


Types = dict[str, tuple[Element, tuple[Any, ...], int]]
"""Names of types to their element, extents and levels of pointers."""


def variable(declaration: c_ast.Decl, types: Mapping[str, Any], where: Where) -> Variable:
    """The variable of a declaration."""
    element, extents, levels = _shape(declaration.type, types)
    inner, is_restrict = declaration.type, False
    while isinstance(inner, c_ast.PtrDecl | c_ast.ArrayDecl):
        quals = inner.quals if isinstance(inner, c_ast.PtrDecl) else inner.dim_quals
        is_restrict = is_restrict or "restrict" in (quals or [])
        inner = inner.type
    return Variable(
        declaration.name or "", element, where, extents, levels > 0, is_restrict, levels
    )


def literal(text: str) -> int:
    """A whole number as C writes it."""
    digits = text.rstrip("uUlL")
    is_octal = digits.startswith("0") and digits.isdigit()
    return int(digits, 8) if is_octal else int(digits, 0)


def type_of(node: Any, types: Mapping[str, Any]) -> tuple[Element, tuple[Any, ...], int]:
    """What a type name or a typedef stands for."""
    return _shape(node.type, types)


def _shape(node: Any, types: Mapping[str, Any]) -> tuple[Element, tuple[Any, ...], int]:
    extents: list[Any] = []
    levels = 0
    is_volatile = False
    while isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.TypeDecl):
        is_volatile = is_volatile or "volatile" in (getattr(node, "quals", None) or [])
        if isinstance(node, c_ast.ArrayDecl):
            extents.append(node.dim)
        elif isinstance(node, c_ast.PtrDecl):
            levels += 1
        node = node.type
    if not isinstance(node, c_ast.IdentifierType):
        is_number = isinstance(node, c_ast.Enum)
        kind = type(node).__name__.lower()
        return Element(False, 4 if is_number else 0, kind), tuple(extents), levels
    if is_volatile:
        return Element(False, 0, " ".join(["volatile", *node.names])), tuple(extents), levels
    if len(node.names) == 1 and node.names[0] in types:
        element, more, deeper = types[node.names[0]]
        return element, (*extents, *more), levels + deeper
    return _element(node.names), tuple(extents), levels


def _element(names: list[str]) -> Element:
    says = " ".join(names)
    known = [name for name in names if name in SIZES_BYTES]
    signed = {"signed", "unsigned"} & set(names)
    if "_Complex" in names or says == "long double" or not (known or signed):
        return Element(False, 0, says)
    size_bytes = max([SIZES_BYTES[name] for name in known if name != "int"] or [4])
    return Element(bool(REALS & set(names)), size_bytes, says)
