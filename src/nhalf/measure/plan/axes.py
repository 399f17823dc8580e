"""The values of axes, as patterns declare them and as users write them.

A text is items separated by commas; an item is a word, an integer, `A:B` (every integer from A to
B) or `A:B:xK` (A, A·K, A·K², … up to B). A and B are integers, sizes such as 4K or 1MiB, or a name
with or without `-K`, `+K`, `/K` or `*K`; names are `ranks` and the axes before this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from nhalf.base.errors import InputError, unknown
from nhalf.base.units import parse_size
from nhalf.measure.probe.pattern import AxisInfo
from nhalf.store.axes import VALUE, axes_text

VALUES_MAX = 100_000
RANKS_MAX = 1 << 20
_END = re.compile(r"(-?\d+)|([A-Za-z]\w*)(?:([-+/*])(\d+))?")
_SIZE = re.compile(r"\d+\s*[KMGTkmgt][Ii]?[Bb]?")
_FACTOR = re.compile(r"x(\d+)")
_REMEDY = "write 1,2,4 or 1:8 or 1:ranks:x2"

Variables = Mapping[str, int | str]


def expand(text: str, variables: Variables) -> list[str]:
    """Expand a text into its values, in its order, each once; possibly none.

    `variables` maps names to their numbers. Raises InputError if the text cannot be read or a name
    is unknown.
    """
    values: dict[str, None] = {}
    for item in text.split(","):
        for value in _values(item.strip(), variables):
            values[value] = None
            if len(values) > VALUES_MAX:
                raise InputError(f"{text!r} is more than {VALUES_MAX} values", "write fewer")
    return list(values)


def combinations(axes: Sequence[AxisInfo], axis_texts: Mapping[str, str], ranks: int) -> list[str]:
    """Combine the values of a pattern's axes into texts for the column `axes`.

    The first axis changes slowest. An axis takes its text in `axis_texts`, else what it declares;
    where it has its fallback it is left out.
    """
    combined: list[dict[str, str]] = [{}]
    for axis in axes:
        text = axis_texts.get(axis.name) or axis.values or axis.fallback
        combined = [
            {**values, axis.name: value}
            for values in combined
            for value in expand(text, {"ranks": ranks, **values})
        ]
        if len(combined) > VALUES_MAX:
            raise InputError(f"more than {VALUES_MAX} combinations of axes", "give fewer values")
    fallback = {axis.name: axis.fallback for axis in axes}
    texts = (
        axes_text({name: value for name, value in values.items() if value != fallback[name]})
        for values in combined
    )
    return list(dict.fromkeys(texts))


def check_axes(axis_texts: Mapping[str, str], patterns: Sequence[Sequence[AxisInfo]]) -> None:
    """Check that at least one pattern has each axis, and that its text can be read.

    Raises InputError with the closest known names.
    """
    axis_names = {axis.name for axes in patterns for axis in axes}
    for name, text in axis_texts.items():
        if name not in axis_names:
            raise unknown("axis", name, axis_names)
        for axes in patterns:
            names = [axis.name for axis in axes]
            if name in names:
                earlier = names[: names.index(name)]
                expand(text, dict.fromkeys(["ranks", *earlier], 1))


def parse_ranks(text: str, cores: int) -> list[int]:
    """Parse numbers of ranks, in increasing order, from '2', '2,4,8' or '2:cores:x2'.

    Raises InputError unless they are numbers from 1 to RANKS_MAX.
    """
    try:
        ranks = sorted({int(value) for value in expand(text, {"cores": cores})})
    except ValueError:
        raise InputError(f"{text!r} is not a list of ranks", "write 2 or 2,4,8") from None
    if ranks and (ranks[0] < 1 or ranks[-1] > RANKS_MAX):
        raise InputError(
            f"the number of ranks cannot be {text!r}", f"give 1 or more, up to {RANKS_MAX}"
        )
    return ranks


def _values(item: str, variables: Variables) -> Iterator[str]:
    """Yield the values of one item."""
    if ":" in item:
        yield from map(str, _range(item, variables))
        return
    match = _END.fullmatch(item)
    if _SIZE.fullmatch(item) or (match and (match[1] or match[2] in variables)):
        yield str(_number(item, variables))
    elif VALUE.fullmatch(item):
        yield item
    elif match:
        raise unknown("axis", match[2], variables)
    else:
        raise InputError(f"{item!r} is no value of an axis", _REMEDY)


def _range(item: str, variables: Variables) -> Iterator[int]:
    first, last, *factor_parts = item.split(":")
    low, high = _number(first, variables), _number(last, variables)
    if not factor_parts:
        yield from range(low, high + 1)
        return
    factor = _FACTOR.fullmatch(factor_parts[0])
    if len(factor_parts) > 1 or factor is None or int(factor[1]) < 2:
        raise InputError(f"{item!r} is no range of values", _REMEDY)
    low = max(low, 1)
    while low <= high:
        yield low
        low *= int(factor[1])


def _number(end: str, variables: Variables) -> int:
    """Return the number that one end of a range, or a single item, stands for."""
    if _SIZE.fullmatch(end.strip()):
        return parse_size(end)
    match = _END.fullmatch(end.strip())
    if match is None:
        raise InputError(f"{end!r} is neither a number nor a name", _REMEDY)
    if match[1]:
        return int(match[1])
    name, sign, operand = match[2], match[3], int(match[4] or 0)
    if name not in variables:
        raise unknown("axis", name, variables)
    try:
        number = int(variables[name])
    except ValueError:
        raise InputError(
            f"axis {name} is {variables[name]!r} here, which is not a number"
        ) from None
    if sign == "/" and operand == 0:
        raise InputError(f"{end!r} divides by 0", _REMEDY)
    changed = {"+": number + operand, "-": number - operand, "*": number * operand}
    return number // operand if sign == "/" else changed.get(sign, number)
