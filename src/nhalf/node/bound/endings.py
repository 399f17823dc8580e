# SPDX-License-Identifier: Apache-2.0
"""Whether a loop ends where its condition says, and not where its counter wraps, or never."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycparser import c_ast

from nhalf.node.bound.polynomial import Polynomial
from nhalf.node.bound.refusal import refused
from nhalf.node.bound.variables import Variable, literal

UPWARD, DOWNWARD = {"<", "<="}, {">", ">="}


def check_end(condition: Any, left: Polynomial, variables: Mapping[str, Variable]) -> None:
    """Raise Refused for a condition that `left`, how far it is from its end, never reaches."""
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in UPWARD | DOWNWARD:
        return
    step = left.step().constant
    if step is not None and (step < 0) == (condition.op in UPWARD):
        why = "its counter moves away from the limit, and ends only where it overflows"
        raise refused(condition, f"how often this loop runs is unknown: {why}")
    limit = _literal(condition.right)
    counter = condition.left
    of = variables.get(counter.name) if isinstance(counter, c_ast.ID) else None
    if limit is None or of is None or of.rank or of.element.is_real:
        return
    is_unsigned = "unsigned" in of.element.says
    most = 2 ** (8 * of.element.size_bytes - (0 if is_unsigned else 1)) - 1
    is_always = (condition.op == "<" and limit > most) or (condition.op == "<=" and limit >= most)
    if is_always or (condition.op == ">=" and limit <= 0 and is_unsigned):
        raise refused(
            condition, f"this loop never ends: {of.name} is always {condition.op} {limit}"
        )


def _literal(node: Any) -> int | None:
    """The number that stands there; None for anything else."""
    if not isinstance(node, c_ast.Constant) or "int" not in node.type:
        return None
    return literal(node.value)
