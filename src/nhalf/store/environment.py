"""The environment of a run as rows of text, and differences between several runs."""

from collections.abc import Iterator, Mapping
from typing import Any

from nhalf.base.numbers import format_number
from nhalf.base.units import format_size, format_time

LENGTH_MAX = 160
"""Longer values are cut: the version strings of some libraries fill a page."""


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested mappings as 'outer inner' rows of text."""
    for key, value in values.items():
        name = f"{prefix} {key}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from flat(value, name)
        elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
            for place, entry in enumerate(value, 1):
                yield f"{name} {place}", _short(", ".join(" ".join(pair) for pair in flat(entry)))
        elif value is not None and value != "" and value != []:
            yield _named(name, value)


def _named(name: str, value: object) -> tuple[str, str]:
    """Move the unit from the end of a name to its value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name.endswith(" bytes"):
            return name.removesuffix(" bytes"), format_size(value)
        if name.endswith(" s"):
            return name.removesuffix(" s"), format_time(value)
    return name, _short(_text(value))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value, 6)
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return " ".join(str(value).split())


def _short(text: str) -> str:
    return text if len(text) <= LENGTH_MAX else text[: LENGTH_MAX - 1].rstrip() + "…"
