"""Check that a loop ends by its condition, not by overflow of its counter, or never."""

from collections.abc import Mapping
from typing import Any

from pycparser import c_ast

from nhalf.loops.source.polynomial import Polynomial
from nhalf.loops.source.refusal import refused
from nhalf.loops.source.variables import Variable, literal

UPWARD, DOWNWARD = {"<", "<="}, {">", ">="}


def check_end(condition: Any, distance: Polynomial, variables: Mapping[str, Variable]) -> None:
    """Raise RefusedSource if the `distance` of a condition from its end never becomes 0."""
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in UPWARD | DOWNWARD:
        return
    step = distance.step().constant
    if step is not None and (step < 0) == (condition.op in UPWARD):
        why = "its counter moves away from the limit, and ends only where it overflows"
        raise refused(condition, f"how often this loop runs is unknown: {why}")
    limit = _literal(condition.right)
    counter = condition.left
    counter_variable = variables.get(counter.name) if isinstance(counter, c_ast.ID) else None
    if (
        limit is None
        or counter_variable is None
        or counter_variable.rank
        or counter_variable.element.is_floating_point
    ):
        return
    is_unsigned = "unsigned" in counter_variable.element.type_name
    largest = 2 ** (8 * counter_variable.element.size_bytes - (0 if is_unsigned else 1)) - 1
    is_always = (condition.op == "<" and limit > largest) or (
        condition.op == "<=" and limit >= largest
    )
    if is_always or (condition.op == ">=" and limit <= 0 and is_unsigned):
        raise refused(
            condition,
            f"this loop never ends: {counter_variable.name} is always {condition.op} {limit}",
        )


def _literal(node: Any) -> int | None:
    """The value of an integer constant; None for any other node."""
    if not isinstance(node, c_ast.Constant) or "int" not in node.type:
        return None
    return literal(node.value)
