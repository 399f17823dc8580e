"""One row of a table, or one object for scripts: values by name."""

from typing import Any

Row = dict[str, Any]


def members(thing: object, *names: str) -> Row:
    """Attributes of an object by their names."""
    return {name: getattr(thing, name) for name in names}
