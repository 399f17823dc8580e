# SPDX-License-Identifier: Apache-2.0
"""Which algorithms of its operations a plan measures: the axis `algorithm` of their patterns.

In the store the algorithm has its own column, which is what distinguishes a pattern that
lists its algorithms from one that merely has an axis of that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nhalf.base.errors import InputError, unknown
from nhalf.base.listing import few
from nhalf.base.operations import NATIVE
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.store.axes import axes_text, parse_axes

AXIS = "algorithm"
ALL = "all"
"""The library's own way and every algorithm that the transport can run."""


def split(info: PatternInfo, axes: str) -> tuple[str, str]:
    """The algorithm of a point and its other axes, from the text that holds both."""
    values = parse_axes(axes)
    algorithm = values.pop(AXIS, NATIVE) if info.algorithms else NATIVE
    return algorithm, axes_text(values)


def joined(algorithm: str, axes: str) -> str:
    """The text that holds an algorithm and further axes; the inverse of `split`."""
    return axes if algorithm == NATIVE else axes_text({**parse_axes(axes), AXIS: algorithm})


def axes_for(info: PatternInfo, given: Mapping[str, str]) -> Mapping[str, str] | None:
    """The axes of a block as they are for one pattern: its own algorithms among those asked for.

    None if it has none of them.
    """
    if AXIS not in given or not info.algorithms:
        return given
    names = _wanted(info, given[AXIS])
    return {**given, AXIS: ",".join(names)} if names else None


def check_algorithms(given: Mapping[str, str], infos: Sequence[PatternInfo]) -> None:
    """Check that every algorithm that a block asks for is one of some pattern's.

    Raises InputError with the closest known names, and for what no transport here can run.
    """
    choosing = [info for info in infos if info.algorithms]
    if AXIS not in given or not choosing:
        return
    known = {one.name: False for info in choosing for one in info.algorithms}
    known |= {one.name: True for info in choosing for one in info.algorithms if one.present}
    patterns = few([info.name for info in choosing], 3)
    for name in _words(given[AXIS]):
        if name in (ALL, NATIVE):
            continue
        if name not in known:
            raise unknown(f"algorithm of {patterns}", name, [ALL, NATIVE, *known])
        if not known[name]:
            raise InputError(
                f"algorithm {name} of {patterns} is absent: the transport lacks messages of the "
                "kind that it sends",
                "choose another --algorithm or --transport",
            )


def check_each_has_one(given: Mapping[str, str], infos: Sequence[PatternInfo]) -> None:
    """Check that no pattern is left without an algorithm; raises InputError, which names it."""
    if AXIS not in given:
        return
    if not any(axis.name == AXIS for info in infos for axis in info.axes):
        raise InputError(
            f"{few([info.name for info in infos], 3)}: no algorithms to choose from",
            "leave --algorithm out, or measure a collective operation such as bcast",
        )
    for info in infos:
        if axes_for(info, given) is None:
            names = ", ".join([NATIVE, *(one.name for one in info.algorithms)])
            raise InputError(f"{info.name} has no algorithm {given[AXIS]}", f"it has {names}")


def without_choice(given: dict[str, str], infos: Sequence[PatternInfo]) -> dict[str, str]:
    """The axes of a block, without the algorithm where none of its patterns has that axis."""
    if any(axis.name == AXIS for info in infos for axis in info.axes):
        return given
    return {name: text for name, text in given.items() if name != AXIS}


def _wanted(info: PatternInfo, text: str) -> list[str]:
    """The algorithms of a pattern that a text asks for, in its order."""
    present = [NATIVE, *(one.name for one in info.algorithms if one.present)]
    names = _words(text)
    return present if ALL in names else [name for name in names if name in present]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for part in text.split(",") if (word := part.strip())))
