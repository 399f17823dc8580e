"""One iteration of an innermost loop, with what changes from iteration to iteration."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pycparser import c_ast

from nhalf.loops.source.expressions import STEPS, Expressions
from nhalf.loops.source.polynomial import ITERATION, VARYING, Polynomial, integer, symbol
from nhalf.loops.source.refusal import RefusedSource, line_of, refused
from nhalf.loops.source.statements import execute
from nhalf.loops.source.streams import IterationBound
from nhalf.loops.source.values import Access, PointerTarget, Value, ValueNode, Values
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
    own = variables.get(counter.name) if isinstance(counter, c_ast.ID) else None
    if limit is None or own is None or own.rank or own.element.is_floating_point:
        return
    is_unsigned = "unsigned" in own.element.type_name
    largest = 2 ** (8 * own.element.size_bytes - (0 if is_unsigned else 1)) - 1
    is_always = {
        "<": limit > largest,
        "<=": limit >= largest,
        ">=": limit <= 0 and is_unsigned,
    }
    if is_always.get(condition.op):
        reason = f"this loop never ends: {own.name} is always {condition.op} {limit}"
        raise refused(condition, reason)


def _literal(node: Any) -> int | None:
    """The value of an integer constant; None for any other node."""
    if not isinstance(node, c_ast.Constant) or "int" not in node.type:
        return None
    return literal(node.value)


Loop: TypeAlias = Any
"""For, While or DoWhile."""
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


@dataclass
class Iteration:
    """What one iteration computes, reads and writes.

    `carried` are floating-point variables that it takes from the one before: their nodes at its
    beginning and at its end. `trips` is the trip count of the loop, None if that is unknown, and
    `reach` says how far its iterations are apart at most.
    """

    function: str
    line: int
    values: Values
    accesses: list[Access]
    carried: list[tuple[ValueNode, ValueNode]]
    variables: Mapping[str, Variable]
    trips: int | None = None
    reach: IterationBound = field(default_factory=IterationBound)
    plain_per_iteration: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Outside:
    """Variables, types and values where a loop begins."""

    function: str
    variables: Mapping[str, Variable]
    types: Mapping[str, Any]
    variable_values: dict[str, Value] = field(default_factory=dict)


def read_loop(loop: Loop, outside: Outside) -> Iteration:
    """Read one iteration of an innermost loop; raises RefusedSource if it cannot be read."""
    changing = [name for name in changed_names(loop) if name in outside.variables]
    starts = _starts(loop, outside, changing)
    steps = _steps(loop, outside, starts)
    variable_values = {
        **outside.variable_values,
        **_moving_values(starts, steps),
    }
    first_reading = _evaluated(loop, outside, variable_values, frozenset())
    written = frozenset(access.place.key for access in first_reading.accesses if access.is_write)
    expressions = _evaluated(loop, outside, variable_values, written)
    trips = _trips(loop, outside, variable_values)
    if trips == 0 and not isinstance(loop, c_ast.DoWhile):
        raise RefusedSource("this loop never runs", line_of(loop))
    carried = [
        (begin, end)
        for name in changing
        if isinstance(begin := variable_values.get(name), ValueNode)
        and isinstance(end := expressions.variable_values[name], ValueNode)
    ]
    used = expressions.values.uses()
    carried = [pair for pair in carried if used.get(id(pair[0]))]
    ends = [end for _, end in carried]
    expressions.values.roots += ends
    stored = [value for value in expressions.memory.values() if isinstance(value, ValueNode)]
    expressions.values.needed += [*ends, *stored]
    return Iteration(
        *(outside.function, line_of(loop), expressions.values, expressions.accesses, carried),
        variables=outside.variables,
        trips=trips,
        reach=_reach(loop, outside, variable_values),
        plain_per_iteration=expressions.plain_per_iteration,
    )


def below(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    if node is not None:
        yield node
        for _, child in node.children():
            yield from below(child)


class _Changes(c_ast.NodeVisitor):  # type: ignore[misc]
    """A visitor that collects the names of assigned variables."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def visit_Assignment(self, node: c_ast.Assignment) -> None:
        self._target(node.lvalue)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> None:
        if node.op in STEPS or node.op == "&":
            self._target(node.expr)
        self.generic_visit(node)

    def visit_Decl(self, node: c_ast.Decl) -> None:
        if node.name:
            self.names[node.name] = None
        self.generic_visit(node)

    def _target(self, node: Any) -> None:
        if isinstance(node, c_ast.ID):
            self.names[node.name] = None


def changed_names(node: Any) -> list[str]:
    """The names of variables that a statement assigns."""
    changes = _Changes()
    changes.visit(node)
    return list(changes.names)


def _expressions(outside: Outside, variable_values: Mapping[str, Value]) -> Expressions:
    return Expressions(outside.variables, outside.types, dict(variable_values))


def _starts(loop: Loop, outside: Outside, changing: list[str]) -> dict[str, Value]:
    """The values of variables when the loop begins."""
    expressions = _expressions(outside, outside.variable_values)
    if isinstance(loop, c_ast.For):
        execute(expressions, loop.init)
    return {
        name: expressions.variable_values.get(name, expressions.initial(outside.variables[name]))
        for name in changing
    }


def _evaluate_iteration(expressions: Expressions, loop: Loop) -> Value | None:
    """Evaluate one iteration in order; returns the distance of its condition from its end."""
    if isinstance(loop, c_ast.DoWhile):
        execute(expressions, loop.stmt)
    plain_per_iteration = expressions.plain_per_iteration.copy()
    distance = None if loop.cond is None else expressions.distance_to_end(loop.cond)
    expressions.plain_per_iteration = plain_per_iteration
    if not isinstance(loop, c_ast.DoWhile):
        execute(expressions, loop.stmt)
    plain_per_iteration = expressions.plain_per_iteration.copy()
    if isinstance(loop, c_ast.For):
        execute(expressions, loop.next)
    expressions.plain_per_iteration = plain_per_iteration
    return distance


def _at_start(name: str) -> Polynomial:
    return symbol(f"{name}@start")


def _steps(
    loop: Loop, outside: Outside, starts: Mapping[str, Value]
) -> dict[str, Polynomial | None]:
    """By how much integers and pointers grow per iteration; None if that varies."""
    begin_values: dict[str, Value] = dict(outside.variable_values)
    for name, start in starts.items():
        if isinstance(start, PointerTarget):
            subscripts = (*start.subscripts[:-1], _at_start(name))
            begin_values[name] = PointerTarget(start.base, subscripts)
        elif isinstance(start, Polynomial):
            begin_values[name] = _at_start(name)
        else:
            begin_values[name] = Values().leaf("carried", name, True)
    expressions = _expressions(outside, begin_values)
    _evaluate_iteration(expressions, loop)
    steps: dict[str, Polynomial | None] = {}
    for name in starts:
        first, last = begin_values[name], expressions.variable_values[name]
        if isinstance(first, PointerTarget) and isinstance(last, PointerTarget):
            is_same_row = (first.base, first.subscripts[:-1]) == (last.base, last.subscripts[:-1])
            step = last.subscripts[-1] - first.subscripts[-1] if is_same_row else None
            steps[name] = step if step is not None and _is_fixed(step) else None
        elif isinstance(first, Polynomial) and isinstance(last, Polynomial):
            steps[name] = last - first if _is_fixed(last - first) else None
    return steps


def _is_fixed(step: Polynomial) -> bool:
    return not any(
        symbol_name.startswith(VARYING) or symbol_name.endswith("@start")
        for symbol_name in step.names
    )


def _moving_values(
    starts: Mapping[str, Value], steps: Mapping[str, Polynomial | None]
) -> dict[str, Value]:
    """The values of variables as functions of the number of the iteration."""
    moving_values: dict[str, Value] = {}
    for name, start in starts.items():
        step = steps.get(name)
        growth = step * symbol(ITERATION) if step is not None else None
        if isinstance(start, ValueNode):
            moving_values[name] = Values().leaf("carried", name, True)
        elif isinstance(start, PointerTarget):
            unknown = PointerTarget(name, (symbol(f"{VARYING}{name}"),))
            moving_values[name] = start.moved(growth) if growth is not None else unknown
        else:
            unknown_number = symbol(f"{VARYING}{name}")
            moving_values[name] = start + growth if growth is not None else unknown_number
    return moving_values


def _evaluated(
    loop: Loop, outside: Outside, variable_values: Mapping[str, Value], written: frozenset[str]
) -> Expressions:
    """Evaluate an iteration of any number; refused if the loop does not end by a count."""
    expressions = _expressions(outside, variable_values)
    expressions.changed = written
    expressions.values.take(
        node for node in variable_values.values() if isinstance(node, ValueNode)
    )
    value = _evaluate_iteration(expressions, loop)
    distance = value.subscripts[-1] if isinstance(value, PointerTarget) else value
    if not isinstance(distance, Polynomial) or not distance.step().terms or distance.is_indirect:
        reason = "it has no condition" if value is None else "its condition counts no iterations"
        raise RefusedSource(f"how often this loop runs is unknown: {reason}", line_of(loop))
    check_end(loop.cond, distance, outside.variables)
    return expressions


def _reach(loop: Loop, outside: Outside, variable_values: Mapping[str, Value]) -> IterationBound:
    """How far the iterations of a loop reach, as far as its condition says."""
    condition = loop.cond
    if isinstance(loop, c_ast.DoWhile) or not isinstance(condition, c_ast.BinaryOp):
        return IterationBound()
    distance = _expressions(outside, variable_values).distance_to_end(condition)
    step = distance.step().constant if isinstance(distance, Polynomial) else None
    if not isinstance(distance, Polynomial) or not step or distance.is_indirect:
        return IterationBound()
    includes_end = condition.op in {"<=", ">="}
    start = distance.start()
    extent = (-start if step > 0 else start) + integer(1 if includes_end else 0)
    return IterationBound(extent, abs(step))


def _trips(loop: Loop, outside: Outside, variable_values: Mapping[str, Value]) -> int | None:
    """The trip count of a loop; None if it depends on a name, or does not end by < or >."""
    condition = loop.cond
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in {"<", "<=", ">", ">="}:
        return None
    distance = _expressions(outside, variable_values).distance_to_end(condition)
    if not isinstance(distance, Polynomial):
        return None
    start, step = distance.start().constant, distance.step().constant
    if start is None or not step:
        return None
    if (start < 0) != (step > 0) and start != 0:
        return 0
    is_included = condition.op in {"<=", ">="} and start % step == 0
    return -(-abs(start) // abs(step)) + int(is_included)
