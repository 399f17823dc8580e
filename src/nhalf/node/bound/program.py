# SPDX-License-Identifier: Apache-2.0
"""The innermost loops of a C file, in the order of its lines, each with what is known before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pycparser import c_ast

from nhalf.base.errors import unknown
from nhalf.node.bound.counts import Counts, count
from nhalf.node.bound.expressions import ALLOCATORS, Expressions
from nhalf.node.bound.iteration import LOOPS, Loop, Outside, changed_names, read_loop
from nhalf.node.bound.polynomial import name, whole
from nhalf.node.bound.refusal import Refused, line_of
from nhalf.node.bound.source import parsed
from nhalf.node.bound.statements import NOTHING, carry_out
from nhalf.node.bound.values import Place, Value
from nhalf.node.bound.variables import Types, Variable, type_of, variable


@dataclass
class Program:
    """The loops of a file that were read, and why others were not."""

    loops: list[Counts] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)


@dataclass(frozen=True)
class Reading:
    """How a file is read: of which function, with which numbers, and whether pointers overlap."""

    function: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    no_alias: bool = False


def read_program(path: Path, reading: Reading | None = None) -> Program:
    """All innermost loops of a file; raises Refused if it cannot be read, or has no loop.

    Raises InputError for a function that is not there.
    """
    try:
        return _read(parsed(path), reading or Reading())
    except RecursionError:
        raise Refused("it is nested too deeply to be read") from None


def _read(tree: c_ast.FileAST, asked: Reading) -> Program:
    """All innermost loops of a syntax tree."""
    functions = {one.decl.name: one for one in tree.ext if isinstance(one, c_ast.FuncDef)}
    if asked.function and asked.function not in functions:
        raise unknown("function", asked.function, functions)
    types, variables, known = _globals(tree, asked)
    program = Program()
    for called, function in functions.items():
        if asked.function in {"", called}:
            walk = _Walk(called, types, dict(variables), dict(known), asked, program)
            walk.function(function)
    if not program.loops and not program.refusals:
        what = f"{asked.function} has no loop" if asked.function else "there is no loop in it"
        raise Refused(what, line_of(functions[asked.function]) if asked.function else 0)
    return program


def _globals(
    tree: c_ast.FileAST, asked: Reading
) -> tuple[Types, dict[str, Variable], dict[str, Value]]:
    """Types, variables and constants that all functions know."""
    types: Types = {}
    variables: dict[str, Variable] = {}
    known: dict[str, Value] = {}
    for one in tree.ext:
        if isinstance(one, c_ast.Typedef):
            types[one.name] = type_of(one, types)
        elif isinstance(one, c_ast.Decl):
            _enumerate(one.type, variables, known)
            if one.name and not isinstance(one.type, c_ast.FuncDecl):
                variables[one.name] = _declared(one, types, "global", asked)
                if "const" in (one.quals or ()) and one.init is not None:
                    with suppress(Refused):
                        known[one.name] = Expressions(variables, types, dict(known)).value(one.init)
    numbers = {one: whole(value) for one, value in asked.numbers.items()}
    return types, variables, {**known, **{n: v for n, v in numbers.items() if n in variables}}


def _enumerate(node: Any, variables: dict[str, Variable], known: dict[str, Value]) -> None:
    """The names of an enumeration are numbers."""
    if not isinstance(node, c_ast.Enum) or node.values is None:
        return
    value = whole(0)
    for one in node.values.enumerators:
        if one.value is not None:
            value = Expressions(variables, {}, dict(known)).integer(one.value)
        known[one.name] = value
        value = value + whole(1)


def _declared(node: c_ast.Decl, types: Types, where: Any, asked: Reading) -> Variable:
    found = variable(node, types, where)
    return replace(found, is_restrict=True) if asked.no_alias else found


class _Walk:
    """The statements of a function in their order; loops are read where they are reached."""

    def __init__(
        self,
        called: str,
        types: Types,
        variables: dict[str, Variable],
        known: dict[str, Value],
        asked: Reading,
        program: Program,
    ) -> None:
        self.outside = Outside(called, variables, types, known)
        self.variables = variables
        self.types = types
        self.asked = asked
        self.program = program
        self.forgotten = 0

    def function(self, node: c_ast.FuncDef) -> None:
        """The parameters, then the body."""
        parameters = node.decl.type.args
        for one in parameters.params if parameters else ():
            if isinstance(one, c_ast.Decl) and one.name:
                self.variables[one.name] = _declared(one, self.types, "parameter", self.asked)
                if one.name in self.asked.numbers:
                    self.outside.known[one.name] = whole(self.asked.numbers[one.name])
        self.statement(node.body)

    def statement(self, node: Any) -> None:
        """One statement, and those in it."""
        if node is None or isinstance(node, NOTHING):
            return
        if isinstance(node, LOOPS):
            self._loop(node)
        elif isinstance(node, c_ast.Compound):
            for one in node.block_items or ():
                self.statement(one)
        elif isinstance(node, c_ast.DeclList):
            for one in node.decls:
                self.statement(one)
        elif isinstance(node, c_ast.Decl):
            self._declare(node)
        elif any(isinstance(one, LOOPS) for one in _below(node)):
            self._around(node)
        else:
            self._simple(node)

    def _around(self, node: Any) -> None:
        """Loops within a branch, or behind a label."""
        self._forget(changed_names(node))
        for _, child in node.children():
            self.statement(child)
        self._forget(changed_names(node))

    def _loop(self, node: Loop) -> None:
        self._declare_all(node)
        is_inner = not any(isinstance(one, LOOPS) for one in _below(node.stmt))
        if is_inner:
            try:
                self.program.loops.append(count(read_loop(node, self.outside)))
            except Refused as refusal:
                line = refusal.line or line_of(node)
                self.program.refusals.append(Refused(refusal.message, line, refusal.remedy))
        else:
            if isinstance(node, c_ast.For):
                self._simple(node.init)
            self._forget(changed_names(node))
            self.statement(node.stmt)
        self._forget(changed_names(node))

    def _declare_all(self, node: Any) -> None:
        """Variables of the loop itself and of its body: names are taken to mean one thing."""
        for one in _below(node):
            if isinstance(one, c_ast.Decl) and one.name:
                self.variables[one.name] = _declared(one, self.types, "local", self.asked)

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Enum):
            _enumerate(node.type, self.variables, self.outside.known)
        if not node.name or isinstance(node.type, c_ast.FuncDecl):
            return
        found = _declared(node, self.types, "local", self.asked)
        self.variables[node.name] = replace(found, is_restrict=True) if _is_new(node) else found
        self._forget([node.name])
        self._simple(node)

    def _simple(self, node: Any) -> None:
        """A statement without loops; what it leaves unknown is forgotten."""
        expressions = Expressions(self.variables, self.types, dict(self.outside.known))
        try:
            carry_out(expressions, node)
            self.outside.known = expressions.known
        except Refused:
            self._forget(changed_names(node) if node is not None else [])

    def _forget(self, names: list[str]) -> None:
        """Nothing more is known of these, but that they have some value."""
        for one in names:
            self.forgotten += 1
            of = self.variables.get(one)
            before = self.outside.known.pop(one, None)
            if of is None:
                continue
            unknown_number = name(f"{one}@{self.forgotten}")
            if isinstance(before, Place) and of.rank:
                moved = (*before.subscripts[:-1], unknown_number)
                self.outside.known[one] = Place(before.base, moved)
            elif not of.rank and not of.element.is_real:
                self.outside.known[one] = unknown_number


def _is_new(node: c_ast.Decl) -> bool:
    """Whether a pointer begins with memory that is nobody else's."""
    made: Any = node.init
    while isinstance(made, c_ast.Cast):
        made = made.expr
    is_call = isinstance(made, c_ast.FuncCall) and isinstance(made.name, c_ast.ID)
    return is_call and made.name.name in ALLOCATORS


def _below(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    if node is not None:
        yield node
        for _, child in node.children():
            yield from _below(child)
