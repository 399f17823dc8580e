# SPDX-License-Identifier: Apache-2.0
"""Statements of the body of a loop, carried out once."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from nhalf.node.bound.expressions import Expressions
from nhalf.node.bound.polynomial import Polynomial
from nhalf.node.bound.refusal import refused
from nhalf.node.bound.values import Value

EXPRESSIONS = (
    *(c_ast.Assignment, c_ast.UnaryOp, c_ast.FuncCall, c_ast.ExprList, c_ast.BinaryOp),
    *(c_ast.TernaryOp, c_ast.Cast, c_ast.ID, c_ast.Constant, c_ast.ArrayRef),
)
NOTHING = (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef)
LEAVES = {
    c_ast.Break: "break ends the loop at an unknown iteration",
    c_ast.Continue: "continue skips an unknown part of iterations",
    c_ast.Return: "return ends the loop at an unknown iteration",
    c_ast.Goto: "goto leads to an unknown place",
    c_ast.Label: "a label may be reached from elsewhere",
    c_ast.Switch: "switch takes an unknown branch",
}


def carry_out(expressions: Expressions, node: Any) -> None:
    """What a statement does; raises Refused for what cannot be read."""
    if node is None or isinstance(node, NOTHING):
        return
    if isinstance(node, c_ast.Compound):
        for one in node.block_items or ():
            carry_out(expressions, one)
    elif isinstance(node, c_ast.DeclList):
        for one in node.decls:
            carry_out(expressions, one)
    elif isinstance(node, c_ast.Decl):
        declare(expressions, node)
    elif isinstance(node, c_ast.If):
        _branch(expressions, node)
    elif isinstance(node, EXPRESSIONS):
        expressions.value(node)
    else:
        why = LEAVES.get(type(node), f"{type(node).__name__} is not read here")
        raise refused(node, why)


def declare(expressions: Expressions, node: c_ast.Decl) -> None:
    """A variable begins; without a value nothing is known of it."""
    of = expressions.variables.get(node.name)
    if of is None:
        return
    if node.init is None or isinstance(node.init, c_ast.InitList):
        expressions.known.pop(node.name, None)
        return
    expressions.assign(c_ast.ID(node.name, node.coord), expressions.value(node.init), node)


def _branch(expressions: Expressions, node: c_ast.If) -> None:
    """Both ways, neither of which every iteration takes; what they leave is either's."""
    expressions.decided(node.cond)
    before = dict(expressions.known), dict(expressions.memory)
    with expressions.guarded():
        carry_out(expressions, node.iftrue)
        one = expressions.known, expressions.memory
        expressions.known, expressions.memory = dict(before[0]), dict(before[1])
        carry_out(expressions, node.iffalse)
    other = expressions.known, expressions.memory
    expressions.known = _merged(expressions, one[0], other[0], node, _initial(expressions))
    expressions.memory = _merged(expressions, one[1], other[1], node, {})


def _initial(expressions: Expressions) -> dict[str, Value]:
    return {name: expressions.initial(of) for name, of in expressions.variables.items()}


def _merged(
    expressions: Expressions,
    one: dict[str, Value],
    other: dict[str, Value],
    node: Any,
    initial: dict[str, Value],
) -> dict[str, Value]:
    """What is known after either way."""
    merged: dict[str, Value] = {}
    for key in {**one, **other}:
        a, b = one.get(key, initial.get(key)), other.get(key, initial.get(key))
        if a is not None and b is not None:
            merged[key] = expressions.either(a, b, node)
        else:
            known = a if a is not None else b
            is_whole = isinstance(known, Polynomial)
            merged[key] = (
                expressions.unknown()
                if is_whole
                else expressions.values.leaf("select", f"memory {key}", True)
            )
    return merged
