"""What panels draw: specifications of charts, their rows, and tables."""

from __future__ import annotations

import json
from typing import Any

import vl_convert

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table

PANELS = load("nhalf.present.panels", Panel)


def drawn(name: str, data: Facts) -> dict[str, Any]:
    """The specification of a chart that can be drawn."""
    chart = PANELS[name]().render(data)
    assert chart is not None
    assert not isinstance(chart, Table)
    spec: dict[str, Any] = chart.to_dict()
    json.dumps(spec, allow_nan=False)
    vl_convert.vegalite_to_svg({**spec, "width": 400} if "width" in spec else spec)
    return spec


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Every row of data that a specification embeds."""
    named = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return named + list(spec.get("data", {}).get("values", []))


def table_of(name: str, data: Facts) -> Table:
    """The table that a panel draws."""
    table = PANELS[name]().render(data)
    assert isinstance(table, Table)
    return table
