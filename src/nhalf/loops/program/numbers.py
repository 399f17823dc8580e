"""Numbers of a C program as they are known for one rank: whole, real, unknown, or a place."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

WHOLE_MAX = 1 << 63


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the source and --set do not say; `name` is the last variable that it went through."""

    name: str


@dataclass(eq=False)
class Frame:
    """The variables of a call of a function, or of the file; elements of arrays by their index."""

    function: str
    numbers: dict[str, Number] = field(default_factory=dict)
    elements: dict[str, dict[tuple[int, ...], Number]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """Where a number is: a variable, or an element if there is an index."""

    frame: Frame
    name: str
    index: tuple[int, ...] = ()

    def read(self) -> Number:
        """The number there."""
        if not self.index:
            return self.frame.numbers.get(self.name, Unknown(self.name))
        elements = self.frame.elements.get(self.name, {})
        return elements.get(self.index, Unknown(self.name))

    def write(self, number: Number) -> None:
        """Put a number there."""
        if self.index:
            self.frame.elements.setdefault(self.name, {})[self.index] = number
        else:
            self.frame.numbers[self.name] = number

    def member(self, name: str) -> NumberPlace:
        """The place of a member of the structure there."""
        return NumberPlace(self.frame, f"{self.name}{list(self.index) or ''}.{name}")

    def forget_members(self) -> None:
        """Forget the numbers of the structures there."""
        for numbers in (self.frame.numbers, self.frame.elements):
            for name in self._members(numbers):
                del numbers[name]

    def _members(self, numbers: Mapping[str, object]) -> list[str]:
        return [name for name in numbers if name.startswith((f"{self.name}.", f"{self.name}["))]

    def read_all(self) -> list[Number]:
        """The number there, and those of the structures there or where its address leads to."""
        number = self.read()
        target = number if isinstance(number, NumberPlace) else self
        numbers = target.frame.numbers
        return [number, *(numbers[name] for name in target._members(numbers))]

    def moved(self, by: int) -> NumberPlace:
        """The place of an element further on; nothing of a single variable."""
        return NumberPlace(self.frame, self.name, (*self.index[:-1], self.index[-1] + by))


Number: TypeAlias = int | float | Unknown | NumberPlace


def quotient(first: float, second: float) -> float:
    """Division as in C, towards 0 for whole numbers; raises ZeroDivisionError."""
    if isinstance(first, int) and isinstance(second, int):
        magnitude = abs(first) // abs(second)
        return magnitude if (first < 0) == (second < 0) else -magnitude
    return first / second


def remainder(first: float, second: float) -> float:
    """The remainder of a division as in C, with the sign of what is divided."""
    return first - second * quotient(first, second)


BINARY: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": quotient, "%": remainder,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
MATHEMATICS: Mapping[str, Callable[..., float]] = {
    "abs": abs, "labs": abs, "fabs": abs, "sqrt": math.sqrt, "cbrt": math.cbrt, "pow": math.pow,
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)),
    "log": math.log, "log2": math.log2, "log10": math.log10, "exp": math.exp,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x), "fmin": min, "fmax": max,
}  # fmt: skip


def combined(sign: str, first: Number, second: Number) -> Number:
    """What a binary operator makes of two numbers."""
    for number in (first, second):
        if isinstance(number, Unknown):
            return number
    if isinstance(first, NumberPlace) or isinstance(second, NumberPlace):
        return _of_places(sign, first, second)
    assert not isinstance(first, Unknown)
    assert not isinstance(second, Unknown)
    try:
        number = BINARY[sign](first, second)
    except (ArithmeticError, ValueError, TypeError, MemoryError):
        return Unknown(sign)
    if isinstance(number, bool):
        return int(number)
    is_too_large = isinstance(number, int) and abs(number) >= WHOLE_MAX
    return Unknown(sign) if is_too_large else number


def signed(sign: str, number: Number) -> Number:
    """What + - ! ~ before a number make of it."""
    if isinstance(number, Unknown):
        return number
    if sign == "!":
        return int(not number)
    if isinstance(number, NumberPlace):
        return Unknown("an address")
    if sign == "~":
        return ~number if isinstance(number, int) else Unknown(sign)
    return -number if sign == "-" else number


def _of_places(sign: str, first: Number, second: Number) -> Number:
    """Addresses: an element further on, and whether they are null."""
    if isinstance(first, NumberPlace) and first.index and isinstance(second, int) and sign in "+-":
        return first.moved(second if sign == "+" else -second)
    if isinstance(second, NumberPlace) and second.index and isinstance(first, int) and sign == "+":
        return second.moved(first)
    if sign in {"==", "!="} and (first == 0 or second == 0):
        return int(sign == "!=")
    return Unknown("an address")


def truncated(number: Number) -> Number:
    """A number in a whole variable."""
    if isinstance(number, float):
        return int(number) if math.isfinite(number) else Unknown("infinity")
    return number
