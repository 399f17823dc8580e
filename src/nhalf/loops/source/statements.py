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
    state_before = dict(expressions.variable_values), dict(expressions.memory)
    with expressions.guarded():
        execute(expressions, node.iftrue)
        after_true = expressions.variable_values, expressions.memory
        expressions.variable_values, expressions.memory = (
            dict(state_before[0]),
            dict(state_before[1]),
        )
        execute(expressions, node.iffalse)
    after_false = expressions.variable_values, expressions.memory
    expressions.variable_values = _merged(
        expressions, after_true[0], after_false[0], node, _initial(expressions)
    )
    expressions.memory = _merged(expressions, after_true[1], after_false[1], node, {})


def _initial(expressions: Expressions) -> dict[str, Value]:
    return {name: expressions.initial(of) for name, of in expressions.variables.items()}


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
        first_value, second_value = (
            first.get(key, initial.get(key)),
            second.get(key, initial.get(key)),
        )
        if first_value is not None and second_value is not None:
            merged[key] = expressions.either(first_value, second_value, node)
        else:
            value = first_value if first_value is not None else second_value
            is_integer = isinstance(value, Polynomial)
            merged[key] = (
                expressions.unknown()
                if is_integer
                else expressions.values.leaf("select", f"memory {key}", True)
            )
    return merged
