"""Charts as a page keeps them: the rows of their data as columns, and repeated words once.

Rows repeat their names, and most of their words, on every line: columns take a third of the room.
`script/data.js` makes rows of them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.rows import Row

Columns = dict[str, Any]


def packed(spec: Any) -> Any:
    """A specification, or a part of it, with `{"columns": ...}` wherever there were rows."""
    if isinstance(spec, Mapping):
        if "datasets" in spec:
            datasets = {
                name: {"columns": columns_of(rows)} for name, rows in spec["datasets"].items()
            }
            other_parts = {name: part for name, part in spec.items() if name != "datasets"}
            return {**packed(other_parts), "datasets": datasets}
        rows: Any = spec.get("values")
        if _are_rows(rows):
            other_parts = {name: part for name, part in spec.items() if name != "values"}
            return {**other_parts, "columns": columns_of(rows)}
        return {name: packed(part) for name, part in spec.items()}
    if isinstance(spec, list):
        return [packed(part) for part in spec]
    return spec


def columns_of(rows: Sequence[Row]) -> Columns:
    """Turn rows into columns; repeated words are stored once, with indices."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(values: list[Any]) -> Any:
    different = dict.fromkeys(value for value in values if isinstance(value, str))
    if not all(value is None or isinstance(value, str) for value in values):
        return values
    if 2 * len(different) > len(values):
        return values
    place = {word: number for number, word in enumerate(different)}
    return {"words": list(different), "at": [place.get(value, -1) for value in values]}


def _are_rows(values: Any) -> bool:
    """Whether these are rows of data, not ticks of an axis."""
    return isinstance(values, list) and bool(values) and all(isinstance(v, dict) for v in values)
