"""Symbolic execution of the statements of a loop's body."""

from typing import Any

from pycparser import c_ast

from nhalf.loops.source.expressions import Expressions
from nhalf.loops.source.polynomial import Polynomial
from nhalf.loops.source.refusal import refused
from nhalf.loops.source.values import Value

EXPRESSIONS = (
    *(c_ast.Assignment, c_ast.UnaryOp, c_ast.FuncCall, c_ast.ExprList, c_ast.BinaryOp),
    *(c_ast.TernaryOp, c_ast.Cast, c_ast.ID, c_ast.Constant, c_ast.ArrayRef),
)
NO_OPERATION = (c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef)
REFUSALS = {
    c_ast.Break: "break ends the loop at an unknown iteration",
    c_ast.Continue: "continue skips an unknown part of iterations",
    c_ast.Return: "return ends the loop at an unknown iteration",
    c_ast.Goto: "goto leads to an unknown place",
    c_ast.Label: "a label may be reached from elsewhere",
    c_ast.Switch: "switch takes an unknown branch",
}


def execute(expressions: Expressions, node: Any) -> None:
    """Execute a statement; raises RefusedSource if it cannot be read."""
    if node is None or isinstance(node, NO_OPERATION):
        return
    if isinstance(node, c_ast.Compound):
        for child in node.block_items or ():
            execute(expressions, child)
    elif isinstance(node, c_ast.DeclList):
        for child in node.decls:
            execute(expressions, child)
    elif isinstance(node, c_ast.Decl):
        declare(expressions, node)
    elif isinstance(node, c_ast.If):
        _branch(expressions, node)
    elif isinstance(node, EXPRESSIONS):
        expressions.value(node)
    else:
        reason = REFUSALS.get(type(node), f"{type(node).__name__} is not read here")
        raise refused(node, reason)


def declare(expressions: Expressions, node: c_ast.Decl) -> None:
    """Declare a variable; without an initial value it is unknown."""
    variable = expressions.variables.get(node.name)
    if variable is None:
        return
    if node.init is None or isinstance(node.init, c_ast.InitList):
        expressions.variable_values.pop(node.name, None)
        return
    expressions.assign(c_ast.ID(node.name, node.coord), expressions.value(node.init), node)


def _branch(expressions: Expressions, node: c_ast.If) -> None:
    """Execute both branches as guarded, and merge their values."""
    expressions.condition(node.cond)
    before = dict(expressions.variable_values), dict(expressions.memory)
    with expressions.guarded():
        execute(expressions, node.iftrue)
        values, memory = expressions.variable_values, expressions.memory
        expressions.variable_values, expressions.memory = before
        execute(expressions, node.iffalse)
    initial = {name: expressions.initial(of) for name, of in expressions.variables.items()}
    expressions.variable_values = _merged(
        expressions, values, expressions.variable_values, node, initial
    )
    expressions.memory = _merged(expressions, memory, expressions.memory, node, {})


def _merged(
    expressions: Expressions,
    first: dict[str, Value],
    second: dict[str, Value],
    node: Any,
    initial: dict[str, Value],
) -> dict[str, Value]:
    """Merge the values after two branches."""
    merged: dict[str, Value] = {}
    for key in {**first, **second}:
        of_first, of_second = (branch.get(key, initial.get(key)) for branch in (first, second))
        if of_first is not None and of_second is not None:
            merged[key] = expressions.either(of_first, of_second, node)
        elif isinstance(of_second if of_first is None else of_first, Polynomial):
            merged[key] = expressions.unknown()
        else:
            merged[key] = expressions.values.leaf("select", f"memory {key}", True)
    return merged
