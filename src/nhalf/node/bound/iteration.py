# SPDX-License-Identifier: Apache-2.0
"""One iteration of an innermost loop, with what changes from iteration to iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pycparser import c_ast

from nhalf.node.bound.endings import check_end
from nhalf.node.bound.expressions import STEPS, Expressions
from nhalf.node.bound.polynomial import ITERATION, VARYING, Polynomial, name
from nhalf.node.bound.refusal import Refused, line_of
from nhalf.node.bound.statements import carry_out
from nhalf.node.bound.values import Access, Node, Place, Value, Values
from nhalf.node.bound.variables import Variable

Loop: TypeAlias = Any
"""For, While or DoWhile."""
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@dataclass
class Iteration:
    """What one iteration computes, reads and writes.

    `carried` are real variables that it takes from the one before: what it begins with and what
    it leaves. `trips` is how often the loop runs, None if that is unknown.
    """

    function: str
    line: int
    values: Values
    accesses: list[Access]
    carried: list[tuple[Node, Node]]
    variables: Mapping[str, Variable]
    trips: int | None = None


@dataclass
class Outside:
    """What is known where a loop begins."""

    function: str
    variables: Mapping[str, Variable]
    types: Mapping[str, Any]
    known: dict[str, Value] = field(default_factory=dict)


def read_loop(loop: Loop, outside: Outside) -> Iteration:
    """One iteration of a loop without loops in it; raises Refused if it cannot be read."""
    changing = [one for one in changed_names(loop) if one in outside.variables]
    starts = _starts(loop, outside, changing)
    steps = _steps(loop, outside, starts)
    known = {**outside.known, **_moving(starts, steps, outside.variables)}
    first = _carried_out(loop, outside, known, frozenset())
    written = frozenset(one.place.key for one in first.accesses if one.is_write)
    made = _carried_out(loop, outside, known, written)
    trips = _trips(loop, outside, known)
    if trips == 0 and not isinstance(loop, c_ast.DoWhile):
        raise Refused("this loop never runs", line_of(loop))
    carried = [
        (begin, end)
        for one in changing
        if isinstance(begin := known.get(one), Node) and isinstance(end := made.known[one], Node)
    ]
    used = made.values.uses()
    carried = [pair for pair in carried if used.get(id(pair[0]))]
    made.values.roots += [end for _, end in carried]
    return Iteration(
        *(outside.function, line_of(loop), made.values, made.accesses, carried),
        variables=outside.variables,
        trips=trips,
    )


class _Changes(c_ast.NodeVisitor):  # type: ignore[misc]
    """Names of variables that are assigned."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def visit_Assignment(self, node: c_ast.Assignment) -> None:
        self._target(node.lvalue)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> None:
        if node.op in STEPS or node.op == "&":
            self._target(node.expr)
        self.generic_visit(node)

    def visit_Decl(self, node: c_ast.Decl) -> None:
        if node.name:
            self.found[node.name] = None
        self.generic_visit(node)

    def _target(self, node: Any) -> None:
        if isinstance(node, c_ast.ID):
            self.found[node.name] = None


def changed_names(node: Any) -> list[str]:
    """The variables that a statement assigns."""
    changes = _Changes()
    changes.visit(node)
    return list(changes.found)


def _expressions(outside: Outside, known: Mapping[str, Value]) -> Expressions:
    return Expressions(outside.variables, outside.types, dict(known))


def _starts(loop: Loop, outside: Outside, changing: list[str]) -> dict[str, Value]:
    """What variables are when the loop begins."""
    before = _expressions(outside, outside.known)
    if isinstance(loop, c_ast.For):
        carry_out(before, loop.init)
    return {one: before.known.get(one, before.initial(outside.variables[one])) for one in changing}


def _whole_body(expressions: Expressions, loop: Loop) -> Value | None:
    """One iteration in order; how far its condition is from its end."""
    if isinstance(loop, c_ast.DoWhile):
        carry_out(expressions, loop.stmt)
    left = None if loop.cond is None else expressions.left_over(loop.cond)
    if not isinstance(loop, c_ast.DoWhile):
        carry_out(expressions, loop.stmt)
    if isinstance(loop, c_ast.For):
        carry_out(expressions, loop.next)
    return left


def _at_start(called: str) -> Polynomial:
    return name(f"{called}@start")


def _steps(
    loop: Loop, outside: Outside, starts: Mapping[str, Value]
) -> dict[str, Polynomial | None]:
    """By how much whole numbers and pointers grow in an iteration; None if that differs."""
    begin: dict[str, Value] = dict(outside.known)
    for one, start in starts.items():
        if isinstance(start, Place):
            begin[one] = Place(start.base, (*start.subscripts[:-1], _at_start(one)))
        elif isinstance(start, Polynomial):
            begin[one] = _at_start(one)
        else:
            begin[one] = Values().leaf("carried", one, True)
    after = _expressions(outside, begin)
    _whole_body(after, loop)
    steps: dict[str, Polynomial | None] = {}
    for one, start in starts.items():
        first, last = begin[one], after.known[one]
        if isinstance(start, Place) and isinstance(first, Place) and isinstance(last, Place):
            same = (first.base, first.subscripts[:-1]) == (last.base, last.subscripts[:-1])
            step = last.subscripts[-1] - first.subscripts[-1] if same else None
            steps[one] = step if step is not None and _is_fixed(step) else None
        elif isinstance(first, Polynomial) and isinstance(last, Polynomial):
            steps[one] = last - first if _is_fixed(last - first) else None
    return steps


def _is_fixed(step: Polynomial) -> bool:
    return not any(one.startswith(VARYING) or one.endswith("@start") for one in step.names)


def _moving(
    starts: Mapping[str, Value],
    steps: Mapping[str, Polynomial | None],
    variables: Mapping[str, Variable],
) -> dict[str, Value]:
    """What variables are in an iteration of any number."""
    found: dict[str, Value] = {}
    for one, start in starts.items():
        step = steps.get(one)
        grown = step * name(ITERATION) if step is not None else None
        if isinstance(start, Node):
            found[one] = Values().leaf("carried", one, True)
        elif isinstance(start, Place):
            unknown = Place(one, (name(f"{VARYING}{one}"),))
            found[one] = start.moved(grown) if grown is not None else unknown
        else:
            found[one] = start + grown if grown is not None else name(f"{VARYING}{one}")
    return found


def _carried_out(
    loop: Loop, outside: Outside, known: Mapping[str, Value], written: frozenset[str]
) -> Expressions:
    """One iteration in the middle; refused where it does not end with a count."""
    made = _expressions(outside, known)
    made.changed = written
    made.values.take(one for one in known.values() if isinstance(one, Node))
    left = _whole_body(made, loop)
    distance = left.subscripts[-1] if isinstance(left, Place) else left
    if not isinstance(distance, Polynomial) or not distance.step().terms or distance.is_indirect:
        what = "it has no condition" if left is None else "its condition counts no iterations"
        raise Refused(f"how often this loop runs is unknown: {what}", line_of(loop))
    check_end(loop.cond, distance, outside.variables)
    return made


def _trips(loop: Loop, outside: Outside, known: Mapping[str, Value]) -> int | None:
    """How often a loop runs; None if a name is in it, or it ends otherwise than by < or >."""
    condition = loop.cond
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in {"<", "<=", ">", ">="}:
        return None
    left = _expressions(outside, known).left_over(condition)
    if not isinstance(left, Polynomial):
        return None
    start, step = left.start().constant, left.step().constant
    if start is None or not step:
        return None
    if (start < 0) != (step > 0) and start != 0:
        return 0
    return -(-abs(start) // abs(step)) + (
        1 if condition.op in {"<=", ">="} and start % step == 0 else 0
    )
