"""Costs as expressions in measured parts: read once, evaluated on arrays, printed for people.

An algorithm states its cost beside its code, in the syntax of Python: `p` ranks, `n` bytes,
`B` bytes of a part; T(x) one message of x bytes, M(x, q) one rank sends x bytes to each of q
others, R(x, q) one rank receives x bytes from each. nhalf evaluates it with the parts of any
machine.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError

PART_BYTES = 8192
"""B where nothing else is asked for, as in the study of the SP2 (algorithms/bases/parts.hpp)."""
PARTS = {"T": 1, "M": 2, "R": 2}
"""The functions that a machine must provide, with their number of arguments."""
NAMES = ("p", "n", "B")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": lambda x: np.ceil(np.round(x, 9)),  # log2 of a power of two may miss it by a bit
    "floor": lambda x: np.floor(np.round(x, 9)),
    "log2": np.log2,
    "sqrt": np.sqrt,
    "min": np.minimum,
    "max": np.maximum,
}
_OPERATORS: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], int, str]] = {
    ast.Add: (np.add, 1, " + "),
    ast.Sub: (np.subtract, 1, " − "),
    ast.Mult: (np.multiply, 2, " "),
    ast.Div: (np.true_divide, 2, " / "),
    ast.Pow: (np.power, 4, "^"),
}
_ATOM = 5

Part = Callable[..., Floats]


@dataclass(frozen=True)
class Expression:
    """A cost in seconds; `text` is as it was written."""

    text: str
    body: ast.expr

    def parts(self) -> set[str]:
        """The subset of T, M and R that the expression uses."""
        calls = (node for node in ast.walk(self.body) if isinstance(node, ast.Call))
        return {call.func.id for call in calls if isinstance(call.func, ast.Name)} & set(PARTS)

    @cached_property
    def cuts(self) -> bool:
        """Whether the cost depends on the size of a part, as where messages are cut."""
        return any(isinstance(node, ast.Name) and node.id == "B" for node in ast.walk(self.body))

    def value(
        self, ranks: Any, size_bytes: Any, parts: Mapping[str, Part], part_bytes: Any = PART_BYTES
    ) -> Floats:
        """Seconds for numbers of ranks, sizes and those of a part, which broadcast.

        `parts` has a function for each of `parts()`, which takes and returns arrays.
        """
        p, n, b = (np.asarray(value, dtype=np.float64) for value in (ranks, size_bytes, part_bytes))
        names = {"p": p, "n": n, "B": b}
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = _value(self.body, names, {**FUNCTIONS, **parts})
        shape = np.broadcast_shapes(p.shape, n.shape, b.shape)
        return np.broadcast_to(np.asarray(seconds, dtype=np.float64), shape).copy()

    def as_text(self) -> str:
        """The expression in mathematical notation: '⌈log₂ p⌉ T(n)'."""
        return _text(self.body)[0]

    def as_latex(self) -> str:
        """The expression as a LaTeX formula, without delimiters."""
        return _latex(self.body)[0]

    def as_python(self) -> str:
        """The expression in Python; its functions are those of `math`, and the parts."""
        return ast.unparse(self.body)


def parse(text: str) -> Expression:
    """The expression in a text; raises InputError if the text is not a cost."""
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"{text!r} is no cost: {error}") from None
    _check(body, text)
    return Expression(text.strip(), body)


def _check(node: ast.expr, text: str) -> None:
    """Raise InputError for anything but numbers, names, calls and arithmetic."""
    match node:
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name) if name in NAMES:
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
            return
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            _check(left, text)
            _check(right, text)
            return
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in PARTS or (
            name in FUNCTIONS
        ):
            argument_count = PARTS.get(name, 2 if name in ("min", "max") else 1)
            if len(args) != argument_count:
                raise InputError(f"{text!r} is no cost: {name} takes {argument_count} arguments")
            for argument in args:
                _check(argument, text)
            return
    remedy = f"names are {', '.join(NAMES)}; functions {', '.join([*PARTS, *FUNCTIONS])}"
    raise InputError(f"{text!r} is no cost: {ast.unparse(node)!r} is unknown", remedy)


def _value(node: ast.expr, names: Mapping[str, Any], functions: Mapping[str, Part]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(operand=operand):
            return -_value(operand, names, functions)
        case ast.BinOp(left=left, op=operator, right=right):
            work = _OPERATORS[type(operator)][0]
            return work(_value(left, names, functions), _value(right, names, functions))
        case ast.Call(func=ast.Name(id=name), args=args):
            return functions[name](*(_value(argument, names, functions) for argument in args))
    raise AssertionError(ast.dump(node))


def _leaf(node: ast.expr) -> str:
    """A number or a name."""
    if isinstance(node, ast.Name):
        return node.id
    assert isinstance(node, ast.Constant)
    return f"{float(node.value):g}"  # type: ignore[arg-type]


def _text(node: ast.expr) -> tuple[str, int]:
    """The text of a node, and how tightly its outermost operator binds."""
    match node:
        case ast.UnaryOp(operand=operand):
            return f"−{_in_brackets(_text(operand), 2)}", 2
        case ast.BinOp():
            return _binary(node, _text, lambda operator: _OPERATORS[type(operator)][2])
        case ast.Call(func=ast.Name(id=name), args=args):
            return _text_call(name, [_text(argument) for argument in args])
    return _leaf(node), _ATOM


def _text_call(name: str, inner: list[tuple[str, int]]) -> tuple[str, int]:
    words = {"ceil": "⌈{}⌉", "floor": "⌊{}⌋"}
    if name in words:
        return words[name].format(inner[0][0]), _ATOM
    if name in ("log2", "sqrt"):
        return ("log₂ " if name == "log2" else "√") + _in_brackets(inner[0], _ATOM), 3
    return f"{name}({', '.join(text for text, _ in inner)})", _ATOM


def _latex(node: ast.expr) -> tuple[str, int]:
    match node:
        case ast.UnaryOp(operand=operand):
            return f"-{_in_brackets(_latex(operand), 2)}", 2
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return rf"\frac{{{_latex(left)[0]}}}{{{_latex(right)[0]}}}", _ATOM
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"{_in_brackets(_latex(left), _ATOM)}^{{{_latex(right)[0]}}}", 4
        case ast.BinOp():
            signs = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r"\,"}
            return _binary(node, _latex, lambda operator: signs[type(operator)])
        case ast.Call(func=ast.Name(id=name), args=args):
            return _latex_call(name, [_latex(argument) for argument in args])
    return _leaf(node), _ATOM


def _latex_call(name: str, inner: list[tuple[str, int]]) -> tuple[str, int]:
    first = inner[0][0]
    if name in ("ceil", "floor"):
        return rf"\l{name} {first} \r{name}", _ATOM
    if name == "sqrt":
        return rf"\sqrt{{{first}}}", _ATOM
    if name == "log2":
        return rf"\log_2 {_in_brackets(inner[0], _ATOM)}", 3
    word = rf"\{name}" if name in ("min", "max") else name
    return f"{word}({', '.join(text for text, _ in inner)})", _ATOM


def _binary(
    node: ast.BinOp,
    printed: Callable[[ast.expr], tuple[str, int]],
    sign: Callable[[ast.operator], str],
) -> tuple[str, int]:
    """Both operands with the sign between them; the right one of − and / binds more tightly."""
    binds = _OPERATORS[type(node.op)][1]
    tighter = binds + (1 if isinstance(node.op, ast.Sub | ast.Div | ast.Pow) else 0)
    left_text = _in_brackets(printed(node.left), binds)
    right_text = _in_brackets(printed(node.right), tighter)
    return f"{left_text}{sign(node.op)}{right_text}", binds


def _in_brackets(printed: tuple[str, int], binds_min: int) -> str:
    text, binds = printed
    return text if binds >= binds_min else f"({text})"


def python_function(name: str, expression: Expression) -> str:
    """A Python function that returns the cost in seconds for plain numbers."""
    parameters = "".join(f", {part}" for part in sorted(expression.parts()))
    functions = ("ceil", "floor", "log2", "sqrt")
    uses = [function for function in functions if f"{function}(" in expression.text]
    lines = [f"from math import {', '.join(uses)}\n\n"] if uses else []
    lines += [
        f"def {name}(p, n{parameters}, B={PART_BYTES}):",
        f"    return {expression.as_python()}",
    ]
    return "\n".join(lines) + "\n"
