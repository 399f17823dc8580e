"""Options of the form name=value."""

from __future__ import annotations

from collections.abc import Iterable

from nhalf.base.errors import InputError


def pairs(texts: Iterable[str], example: str) -> dict[str, str]:
    """Values by name; raises InputError for a text of another form, with an example."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"{text!r} is not written as name=value", f"write {example}")
        values[name.strip()] = value.strip()
    return values
