"""The text alternative of a chart: where each of its curves begins and ends, in numbers."""

from __future__ import annotations

from typing import Any

from nhalf.base.numbers import format_number, percent
from nhalf.base.rows import Row
from nhalf.present.report.caption import Spec, choice_of, rows_of

CURVE_FIELDS = ("curve", "pattern", "series", "kind")
"""Fields of rows that tell curves apart."""
CURVES_MAX = 12
FACTS_MAX = 3
"""Facts about either end: its place, its value and the interval."""

Tip = tuple[str, str, str]
"""Field, title and format of a tooltip."""


def in_words(spec: Spec) -> list[str]:
    """Write a sentence for each curve that a chart opens with; none without tooltips."""
    tips = _tips(spec)
    choice = choice_of(spec)
    rows = [row for row in rows_of(spec) if tips and all(field in row for field, _, _ in tips)]
    if choice is not None and choice.field:
        rows = [row for row in rows if str(row.get(choice.field)) == choice.first]
    curves: dict[str, list[Row]] = {}
    for row in rows:
        name = ", ".join(str(row[field]) for field in CURVE_FIELDS if field in row)
        curves.setdefault(name, []).append(row)
    shown_tips = [tip for tip in tips if tip[0] not in CURVE_FIELDS][:FACTS_MAX]
    sentences = [_sentence(name, curve, shown_tips) for name, curve in curves.items()]
    more = len(sentences) - CURVES_MAX
    return sentences[:CURVES_MAX] + ([f"And {more} more curves."] if more > 0 else [])


def _sentence(name: str, curve: list[Row], tips: list[Tip]) -> str:
    """Describe both ends of a curve, or its only point."""
    ends = [curve[0], curve[-1]] if len(curve) > 1 else curve
    end_facts = [", ".join(_fact(row, tip) for tip in tips) for row in ends]
    counted = f" ({len(curve)} points)" if len(curve) > 2 else ""
    return f"{name + ': ' if name else ''}{'; to '.join(end_facts)}{counted}."


def _fact(row: Row, tip: Tip) -> str:
    field, title, form = tip
    value = row[field]
    if isinstance(value, float):
        value = percent(value, None) if "%" in form else format_number(value, 4)
    return f"{title} {value}"


def _tips(part: Any) -> list[Tip]:
    """Find the tooltips of the mark that has most."""
    if isinstance(part, list):
        return max((_tips(layer) for layer in part), key=len, default=[])
    if not isinstance(part, dict):
        return []
    own = part.get("encoding", {}).get("tooltip", [])
    tips = [
        (channel["field"], channel.get("title") or channel["field"], channel.get("format", ""))
        for channel in (own if isinstance(own, list) else [own])
        if "field" in channel
    ]
    inner = [part[name] for name in ("layer", "spec") if name in part]
    return max(tips, _tips(inner), key=len)
