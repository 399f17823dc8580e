"""The values of axes, as patterns declare them and as users write them.

A text is items separated by commas; an item is a word, an integer, `A:B` (every integer from A to
B) or `A:B:xK` (A, A·K, A·K², … up to B). A and B are integers, sizes such as 4K or 1MiB, or a name
with or without `-K`, `+K`, `/K` or `*K`; names are `ranks` and the axes before this one.

In the store the algorithm has its own column, which is what distinguishes a pattern that
lists its algorithms from one that merely has an axis of that name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from nhalf.base.errors import InputError, unknown
from nhalf.base.listing import few
from nhalf.base.operations import NATIVE
from nhalf.base.units import parse_size
from nhalf.measure.probe.pattern import AxisInfo, PatternInfo
from nhalf.store.keys import VALUE, axes_text, parse_axes

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


AXIS = "algorithm"
ALL = "all"
"""The library's own algorithm and every one that the transport can run."""


def split(info: PatternInfo, axes: str) -> tuple[str, str]:
    """Split the text of a point's axes into the algorithm and the other axes."""
    values = parse_axes(axes)
    algorithm = values.pop(AXIS, NATIVE) if info.algorithms else NATIVE
    return algorithm, axes_text(values)


def joined(algorithm: str, axes: str) -> str:
    """Join an algorithm and further axes into one text; the inverse of `split`."""
    return axes if algorithm == NATIVE else axes_text({**parse_axes(axes), AXIS: algorithm})


def axes_for(info: PatternInfo, axis_texts: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the axes of a block for one pattern, with the requested algorithms that it has.

    None if it has none of them.
    """
    if AXIS not in axis_texts or not info.algorithms:
        return axis_texts
    present = [NATIVE, *(algorithm.name for algorithm in info.algorithms if algorithm.present)]
    names = _words(axis_texts[AXIS])
    names = present if ALL in names else [name for name in names if name in present]
    return {**axis_texts, AXIS: ",".join(names)} if names else None


def check_algorithms(axis_texts: Mapping[str, str], infos: Sequence[PatternInfo]) -> None:
    """Check that some pattern has each algorithm that a block requests.

    Raises InputError with the closest known names, or if no transport here can run one.
    """
    choosing = [info for info in infos if info.algorithms]
    if AXIS not in axis_texts or not choosing:
        return
    is_present = {algorithm.name: False for info in choosing for algorithm in info.algorithms}
    is_present |= {
        algorithm.name: True
        for info in choosing
        for algorithm in info.algorithms
        if algorithm.present
    }
    patterns = few([info.name for info in choosing], 3)
    for name in _words(axis_texts[AXIS]):
        if name in (ALL, NATIVE):
            continue
        if name not in is_present:
            raise unknown(f"algorithm of {patterns}", name, [ALL, NATIVE, *is_present])
        if not is_present[name]:
            raise InputError(
                f"algorithm {name} of {patterns} is absent: the transport lacks messages of the "
                "kind that it sends",
                "choose another --algorithm or --transport",
            )


def check_each_has_one(axis_texts: Mapping[str, str], infos: Sequence[PatternInfo]) -> None:
    """Check that every pattern has an algorithm left; raises InputError, which names it."""
    if AXIS not in axis_texts:
        return
    if not any(axis.name == AXIS for info in infos for axis in info.axes):
        raise InputError(
            f"{few([info.name for info in infos], 3)}: no algorithms to choose from",
            "leave --algorithm out, or measure a collective operation such as bcast",
        )
    for info in infos:
        if axes_for(info, axis_texts) is None:
            names = ", ".join([NATIVE, *(algorithm.name for algorithm in info.algorithms)])
            raise InputError(f"{info.name} has no algorithm {axis_texts[AXIS]}", f"it has {names}")


def without_choice(axis_texts: dict[str, str], infos: Sequence[PatternInfo]) -> dict[str, str]:
    """Return the axes of a block, without the algorithm if none of its patterns has that axis."""
    if any(axis.name == AXIS for info in infos for axis in info.axes):
        return axis_texts
    return {name: text for name, text in axis_texts.items() if name != AXIS}


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for part in text.split(",") if (word := part.strip())))
