"""Fragments: declarations and loops without a function, the form of Kerncraft's kernels."""

import re
from pathlib import Path
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser


def parsed_fragment(text: str, path: Path) -> c_ast.FileAST:
    """The tree of a function around a fragment, named after its file.

    Names that nothing declares are integers that it takes. Raises ParseError if it is no C.
    """
    name = re.sub(r"\W", "_", path.stem) or "fragment"
    name = f"_{name}" if name[0].isdigit() else name
    tree = CParser().parse(_function(text, name, "void"), str(path))
    parameters = ", ".join(f"int {undeclared}" for undeclared in _undeclared(tree))
    return CParser().parse(_function(text, name, parameters or "void"), str(path))


def _function(text: str, name: str, parameters: str) -> str:
    return f"void {name}({parameters}) {{\n{text}\n}}\n"


def _undeclared(tree: c_ast.FileAST) -> list[str]:
    """The names of numbers that a fragment uses without declaring them."""
    names = _Names()
    names.visit(tree)
    return [name for name in names.used if name not in names.declared]


class _Names(c_ast.NodeVisitor):  # type: ignore[misc]
    """The names that are declared, and those that are used as numbers."""

    def __init__(self) -> None:
        self.declared: set[str] = set()
        self.used: dict[str, None] = {}

    def visit_Decl(self, node: c_ast.Decl) -> None:
        self.declared.add(node.name)
        self.generic_visit(node)

    def visit_Typedef(self, node: c_ast.Typedef) -> None:
        self.declared.add(node.name)

    def visit_Enumerator(self, node: c_ast.Enumerator) -> None:
        self.declared.add(node.name)
        self.generic_visit(node)

    def visit_FuncCall(self, node: c_ast.FuncCall) -> None:
        if node.args:
            self.visit(node.args)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> None:
        self._inside(node.name)
        self.visit(node.subscript)

    def visit_ID(self, node: c_ast.ID) -> None:
        self.used[node.name] = None

    def _inside(self, node: Any) -> None:
        """Visit what is subscripted, of which the name is not a number."""
        if not isinstance(node, c_ast.ID):
            self.visit(node)
