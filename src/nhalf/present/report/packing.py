"""What a page keeps of its charts: the inputs for them, their data and the scripts that draw them.

Rows of data repeat their names, and most of their words, on every line: as columns they take a
third of the room. `script/data.js` makes rows of them again.
"""

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, write_cached
from nhalf.base.rows import Row
from nhalf.present.report.caption import Spec

SHARED = "shown"
"""The parameter that holds the pattern charts show (script/choices.js)."""
ALL = "all"
AXES = ("as drawn", "linear", "log")


@dataclass(frozen=True)
class PageSelector:
    """An input above the charts; `name` is what the address of the page calls it."""

    name: str
    title: str
    options: tuple[str, ...]
    first: str


def selectors(specs: Sequence[Spec], libraries: Sequence[str]) -> list[PageSelector]:
    """List the selectors with more than one option; `libraries` are the values of `series`."""
    inputs = _shared(specs)
    if len(libraries) > 1:
        inputs.append(PageSelector("library", "Library", (ALL, *libraries), ALL))
    if any(_has_logarithms(spec) for spec in specs):
        inputs.append(PageSelector("axes", "Axes", AXES, AXES[0]))
    return inputs


def _has_logarithms(part: Any) -> bool:
    """Whether an axis of a chart is logarithmic."""
    if isinstance(part, list):
        return any(map(_has_logarithms, part))
    if not isinstance(part, dict):
        return False
    scale = part.get("scale")
    if isinstance(scale, dict) and scale.get("type") in ("log", "symlog"):
        return True
    inner = (part.get(name) for name in ("encoding", "layer", "spec", "x", "y"))
    return any(map(_has_logarithms, inner))


def _shared(specs: Sequence[Spec]) -> list[PageSelector]:
    """Merge the pattern inputs of all charts; the first chart's initial pattern counts."""
    bound = [
        parameter
        for spec in specs
        for parameter in spec.get("params", [])
        if parameter["name"] == SHARED and isinstance(parameter.get("bind"), dict)
    ]
    if not bound:
        return []
    options = dict.fromkeys(
        str(option) for parameter in bound for option in parameter["bind"]["options"]
    )
    title = str(bound[0]["bind"]["name"]).strip()
    return [PageSelector(SHARED, title, tuple(options), str(bound[0]["value"]))]


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
        # Rows of data, not ticks of an axis.
        if isinstance(rows, list) and rows and all(isinstance(v, dict) for v in rows):
            other_parts = {name: part for name, part in spec.items() if name != "values"}
            return {**other_parts, "columns": columns_of(rows)}
        return {name: packed(part) for name, part in spec.items()}
    return [packed(part) for part in spec] if isinstance(spec, list) else spec


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


ENTRY = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def bundle() -> str:
    """One script for a page, made once and then read from the cache: making it takes a second."""
    try:
        text = _kept().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, MissingError):
        text = _made()
        with suppress(MissingError):  # a cache that cannot be written costs time only
            write_cached(_kept(), text)
    return script_text(text)


def script_text(source: str) -> str:
    """JavaScript in which nothing reads as the end of its element or as a comment of HTML."""
    return re.sub(r"</(script)", r"<\\/\1", source, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def _made() -> str:
    import vl_convert  # lazy: a kept script does without it

    return vl_convert.javascript_bundle(ENTRY)


def _kept() -> Path:
    """Path of the cached script, by release of the converter and entry.

    Raises MissingError if somebody else could have written there.
    """
    made_of = f"{version('vl-convert-python')} {ENTRY}"
    return cache_folder() / "scripts" / f"{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.js"
