"""How charts look on light and dark ground.

Colours are those of Okabe and Ito (Color Universal Design, 2008), which readers with any form of
colour blindness tell apart; on dark ground the two darkest are lightened to keep their contrast.
"""

from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
PALETTE_LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b0568c", "#c98500", "#3399cc", "#6b7280"]
PALETTE_DARK = ["#56b4e9", "#f08a45", "#2cc59b", "#e3a0c6", "#e6b800", "#8fa8ff", "#a3acba"]
PATH, PATH_EDGE, ON_COLOR = "path", "path-edge", "on-color"
"""Styles over coloured areas: a line, a wider one below that sets it apart, and text."""


def _theme(palette: list[str], text: str, muted: str, grid: str, ground: str) -> dict[str, Any]:
    return {
        # A chart is one picture with one description, not thousands of marks to be read out.
        "aria": False,
        "mark": {"aria": False},
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "range": {"category": palette},
        "axis": {
            "labelColor": muted,
            "titleColor": muted,
            "titleFontWeight": 500,
            "titlePadding": 10,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "labelPadding": 6,
            "tickSize": 4,
        },
        "axisX": {"grid": False, "labelFlush": True},
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            "orient": "top",
            "labelColor": text,
            "titleColor": muted,
            "labelFontSize": 12,
            "symbolType": "circle",
            "symbolStrokeWidth": 0,
            "columnPadding": 20,
            "rowPadding": 4,
            "offset": 16,
        },
        "header": {
            "labelColor": text,
            "labelFontSize": 13,
            "labelFontWeight": 600,
            "labelAnchor": "start",
            "labelPadding": 8,
            "title": None,
        },
        "title": {"color": text, "subtitleColor": muted, "anchor": "start"},
        "facet": {"spacing": {"row": 36, "column": 32}},
        "rule": {"color": muted},
        "style": {PATH: {"color": text}, PATH_EDGE: {"color": ground}, ON_COLOR: {"color": ground}},
        "point": {"color": palette[0]},
    }


LIGHT = _theme(PALETTE_LIGHT, text="#14181f", muted="#5a6472", grid="#e6e9ee", ground="#ffffff")
DARK = _theme(PALETTE_DARK, text="#eef1f5", muted="#9aa5b4", grid="#2b323d", ground="#14181f")
