"""A change of a quantity: '2x', '/2', '+1us', '-50ns' or a new value such as '12GBps'."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.units import parse_rate, parse_size, parse_time

_FACTOR = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


def rate_Bps(text: str) -> float:
    """Bytes per second, written '12 GB/s' or, as SimGrid has it, '12GBps'."""
    return parse_rate(re.sub(r"(?<=B)ps$", "/s", text.strip()))


Reader = Callable[[str], float]
READERS: dict[str, tuple[Reader, str]] = {
    "rate": (rate_Bps, "2x, /2, +1GBps or 12GBps"),
    "time": (parse_time, "2x, /2, +1us or 0.5us"),
    "size": (lambda text: float(parse_size(text)), "2x, /2, +4K or 64K"),
}
"""The parser of each kind of value, and examples of its changes."""


@dataclass(frozen=True)
class Amount:
    """A factor, or else a new value or, if it `adds`, a difference.

    The value has the unit of the quantity that it changes.
    """

    factor: float | None = None
    value: float = 0.0
    adds: bool = False

    def of(self, before: float | None, name: str) -> float | None:
        """The changed quantity; None if it is unknown and this is a factor.

        Raises InputError if the result would not be positive and finite, or if the quantity to
        add to is unknown.
        """
        if self.factor is None and not self.adds:
            return self.value
        if before is None:
            if self.factor is not None:
                return None
            raise InputError(f"{name} is unknown", "give a factor, such as 2x, or a value")
        after = before + self.value if self.factor is None else before * self.factor
        if not 0 < after < math.inf:
            raise InputError(f"{name} would be {after:g}", "it has to stay above 0 and finite")
        return after


def parse_amount(text: str, kind: str) -> Amount:
    """An amount of one of the kinds in READERS; raises InputError for anything else."""
    reader, example = READERS[kind]
    words = text.strip()
    try:
        if words[-1:] in ("x", "×") or words[:1] in ("/", "÷"):
            return Amount(factor=_factor(words))
        if words[:1] in ("+", "-"):
            size = _positive(reader(words[1:]))
            return Amount(value=size if words[0] == "+" else -size, adds=True)
        return Amount(value=_positive(reader(words)))
    except (InputError, OverflowError, ZeroDivisionError):
        raise InputError(f"{text!r} is no change of a {kind}", f"write {example}") from None


def _factor(words: str) -> float:
    """Parse a factor: '2x' is 2, '/2' is 0.5."""
    divides = words[0] in "/÷"
    digits = (words[1:] if divides else words[:-1]).strip()
    if _FACTOR.fullmatch(digits) is None:
        raise InputError(f"{words!r} is no factor")
    factor = _positive(float(digits))
    return _positive(1 / factor if divides else factor)


def _positive(value: float) -> float:
    if not 0 < value < math.inf:
        raise InputError("it has to be above 0 and finite")
    return value
