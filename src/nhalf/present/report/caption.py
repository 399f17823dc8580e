# SPDX-License-Identifier: Apache-2.0
"""Captions of charts: what a chart shows, in words that stay with it when it is copied.

A chart that shows one pattern, map or message at a time has a caption for each.
"""

from __future__ import annotations

import copy
import json
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.listing import few
from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.present.charts.overlay import DATA

NAMES_MAX = 4
LINE_LENGTH = 95
ORDER = "ordered"
"""The parameter that arranges what is shown and does not choose it."""

Spec = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """A parameter by which a reader picks what is shown: `field` of the rows holds its options."""

    parameter: str
    options: tuple[str, ...]
    first: str
    field: str
    label: str = ""
    """The noun for its options."""

    def in_words(self, option: str) -> str:
        """Put an option in words; a number gets its label."""
        return f"{option} {self.label.lower()}" if option.isdigit() else option


def choice_of(spec: Spec) -> Choice | None:
    """Find the parameter that picks what a chart shows; None if all is shown at once."""
    rows = rows_of(spec)
    for parameter in spec.get("params", []):
        bound = parameter.get("bind")
        options = tuple(bound.get("options", ())) if isinstance(bound, dict) else ()
        if options and parameter["name"] != ORDER:
            expected = set(options)
            names = (name for name in rows[0] if expected <= {str(row.get(name)) for row in rows})
            field = next(names, "")
            label = str(bound.get("name", "")).strip()
            return Choice(parameter["name"], options, str(parameter["value"]), field, label)
    return None


def with_caption(spec: Spec, facts: Facts, patterns: Collection[str]) -> Spec:
    """Add a caption to a chart, which follows what is picked.

    `patterns` are the panel's subject, if its rows do not name them.
    """
    choice = choice_of(spec)
    if choice is None:
        return captioned(spec, *caption(spec, facts, patterns))
    captions = {option: caption(spec, facts, patterns, choice, option) for option in choice.options}
    first, further = (
        {
            "expr": f"({json.dumps({option: lines[i] for option, lines in captions.items()})})"
            f"[{choice.parameter}]"
        }
        for i in (0, 1)
    )
    return captioned(spec, first, further)


def each_choice(spec: Spec, facts: Facts, patterns: Collection[str]) -> Iterator[tuple[str, Spec]]:
    """Yield the chart with each option picked; '' is the one that it opens with."""
    choice = choice_of(spec)
    if choice is None:
        yield "", spec
        return
    for option in choice.options:
        fixed = copy.deepcopy(spec)
        for parameter in fixed["params"]:
            if parameter["name"] == choice.parameter:
                parameter["value"] = option
        texts = caption(spec, facts, patterns, choice, option)
        yield "" if option == choice.first else option, captioned(fixed, *texts)


def caption(
    spec: Spec,
    facts: Facts,
    patterns: Collection[str],
    choice: Choice | None = None,
    option: str = "",
) -> tuple[str, list[str]]:
    """Describe what is shown (patterns, ranks, placement, host), and name its libraries."""
    rows = rows_of(spec)
    if choice is not None:
        rows = [row for row in rows if str(row.get(choice.field)) == option] or rows
    points = _points(facts, patterns or {str(row["pattern"]) for row in rows if "pattern" in row})
    shown = sorted(points["pattern"].unique())
    picked = "" if option in shown or choice is None else choice.in_words(option)
    ranks, placements = _setting(points)
    setting = ["" if "ranks" in picked else ranks, placements]
    parts = [picked, few(shown, NAMES_MAX), *setting, few(facts.extent.hosts, 2)]
    series = {str(row["series"]) for row in rows if "series" in row and not _names_series(spec)}
    libraries = [name for name in facts.series_names if name in series] or sorted(series)
    lines = textwrap.wrap(", ".join(libraries), LINE_LENGTH)
    if facts.overlay is not None and _has_overlay(spec):
        lines.append(f"dashed: {facts.overlay.name}, for comparison")
    return " · ".join(filter(None, parts)), lines


def _has_overlay(spec: Spec) -> bool:
    """Whether the curves of an overlay are drawn behind others."""
    return any(layer.get("data", {}).get("name") == DATA for layer in spec.get("layer", []))


def _names_series(part: Any) -> bool:
    """Whether a chart names its series itself: in its legend, or above its facets."""
    if isinstance(part, list):
        return any(map(_names_series, part))
    if not isinstance(part, dict):
        return False
    color = part.get("encoding", {}).get("color", {})
    in_legend = color.get("field") == "series" and color.get("legend", {}) is not None
    above = part.get("facet", {}).get("field") == "series"
    parts = (part.get(name) for name in ("layer", "spec"))
    return in_legend or above or any(map(_names_series, parts))


def _points(facts: Facts, patterns: Collection[str]) -> pl.DataFrame:
    """Select the points of these patterns; all if the panel has none of its own."""
    if not patterns:
        return facts.summary
    return facts.summary.filter(pl.col("pattern").is_in(list(patterns)))


def _setting(points: pl.DataFrame) -> tuple[str, str]:
    """List the numbers of ranks and the placements."""
    ranks = [str(number) for number in sorted(points["ranks"].unique())]
    placements = sorted(filter(None, points["placement"].unique()))
    return f"{few(ranks, 6)} {'rank' if ranks == ['1'] else 'ranks'}", few(placements, 3)


def captioned(spec: Spec, text: Any, subtitle: Any = ()) -> Spec:
    """Add a caption: a text, or an expression of what is picked, and further lines."""
    title = {
        "text": text,
        "subtitle": list(subtitle) if isinstance(subtitle, tuple) else subtitle,
        "fontSize": 12,
        "fontWeight": "normal",
        "offset": 12,
    }
    return {**spec, "title": title}


def rows_of(spec: Spec) -> list[Row]:
    """The rows of data in a specification; one empty row where there are none."""
    named_rows = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return named_rows or list(spec.get("data", {}).get("values", [])) or [{}]
