"""Which algorithms of its operations a plan measures: the axis `algorithm` of patterns.

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
    names = _requested_names(info, axis_texts[AXIS])
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


def _requested_names(info: PatternInfo, text: str) -> list[str]:
    """Return the algorithms of a pattern that a text requests, in the text's order."""
    present = [NATIVE, *(algorithm.name for algorithm in info.algorithms if algorithm.present)]
    names = _words(text)
    return present if ALL in names else [name for name in names if name in present]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for part in text.split(",") if (word := part.strip())))
