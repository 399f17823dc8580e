"""Inputs for all charts of a page: the pattern, the library and the axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
