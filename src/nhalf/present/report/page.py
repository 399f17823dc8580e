# SPDX-License-Identifier: Apache-2.0
"""The report as one file: no network, no server, no second file."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from nhalf.base.plugins import load
from nhalf.base.templates import render
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.base.version import __version__
from nhalf.facts.facts import Facts
from nhalf.facts.overview import Overview
from nhalf.present.application_verdict import application_verdict
from nhalf.present.findings import Finding, findings
from nhalf.present.panels import Panel, Table
from nhalf.present.report import heading, themes
from nhalf.present.report.bundle import bundle
from nhalf.present.report.caption import with_caption
from nhalf.present.report.in_words import in_words
from nhalf.present.report.packing import packed
from nhalf.present.report.selectors import selectors
from nhalf.present.verdict import verdict
from nhalf.present.wording import n_half_ends, n_half_text, says_nothing, times

if TYPE_CHECKING:
    import altair as alt

    from nhalf.present.program.panels import ProgramPanel

HERE = Path(__file__).parent
STYLE = ("page", "findings", "tables", "charts", "screens", "print")
"""Parts of the style in their order; later ones win."""
SCRIPT = ("data", "theme", "choices", "charts", "tables", "save", "contents")
"""Parts of the script in their order; they form one function."""
LEAD_FINDINGS = 3
"""This many findings stand large; the others follow as a list."""


@dataclass(frozen=True)
class Section:
    """A rendered panel: `spec` for a chart, otherwise `table`.

    `patterns` are those that the panel is about, where its rows do not name them.
    """

    name: str
    title: str
    how_to_read: str
    spec: dict[str, Any] | None
    table: Table | None
    patterns: Collection[str] = ()


def sections(facts: Facts) -> list[Section]:
    """Every panel that has something to show, in order."""
    shown: list[Section] = []
    panels = load("nhalf.present.panels", Panel)
    for name, kind in sorted(panels.items(), key=lambda item: (item[1].order, item[0])):
        section = section_of(name, kind, kind().render(facts), kind.patterns)
        if section is not None and section.spec is not None:
            captioned = with_caption(section.spec, facts, kind.patterns)
            section = dataclasses.replace(section, spec=captioned)
        if section is not None:
            shown.append(section)
    return shown


def section_of(
    name: str,
    kind: type[Panel | ProgramPanel],
    drawn: alt.TopLevelMixin | Table | None,
    patterns: Collection[str] = (),
) -> Section | None:
    """A panel with what it rendered; None if that is nothing."""
    if drawn is None:
        return None
    if isinstance(drawn, Table):
        return Section(name, kind.title, kind.how_to_read, None, drawn, patterns)
    spec = {**drawn.to_dict(), "description": f"{kind.title}. {kind.how_to_read}"}
    return Section(name, kind.title, kind.how_to_read, spec, None, patterns)


def page(facts: Facts) -> str:
    """The whole report as HTML."""
    ordered = findings(facts)
    extent = facts.extent
    return rendered(
        title=heading.title(extent),
        subtitle=heading.subtitle(extent),
        verdict=verdict(facts) or application_verdict(facts),
        sureness=heading.sureness(extent),
        footer=heading.footer(extent),
        lead=[card(finding) for finding in ordered[:LEAD_FINDINGS]],
        others=[card(finding) for finding in ordered[LEAD_FINDINGS:]],
        libraries=[_library(entry, facts.series_names) for entry in facts.overview],
        sections=sections(facts),
        series=facts.series_names,
    )


def rendered(series: Sequence[str] = (), **values: Any) -> str:
    """A page of the template, with its style, script and charts.

    `series` are the libraries of which a reader may pick one.
    """
    charts = [section.spec for section in values["sections"] if section.spec]
    context = {
        "version": __version__,
        "verdict": "",
        "themes": {"light": themes.LIGHT, "dark": themes.DARK},
        "style": Markup("\n".join(_read(f"style/{part}.css") for part in STYLE)),
        "script": Markup("\n".join(_read(f"script/{part}.js") for part in SCRIPT)),
        "bundle": Markup(bundle()),
        "palettes": (themes.PALETTE_LIGHT, themes.PALETTE_DARK),
        "selectors": selectors(charts, series),
        **values,
    }
    filters: dict[str, Callable[..., Any]] = {
        **{"json": script_json, "tidy": tidy},
        **{"packed": packed, "in_words": in_words},
    }
    return render(HERE / "page.html.j2", context, filters, autoescape=True)


def tidy(text: str) -> Markup:
    """HTML in which lines break neither between a number and its unit nor within an option."""
    safe = str(escape(text))
    safe = re.sub(r"(?<=\d) (?=(?:%|[nµm]?s|[KMG]i?B|[kMGT]?B/s|B)(?!\w))", "\u00a0", safe)
    return Markup(re.sub(r"(?<![\w-])--[a-z][a-z-]*", r'<span class="option">\g<0></span>', safe))


def script_json(value: object) -> Markup:
    """JSON that may stand inside a script element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def card(finding: Finding) -> dict[str, str]:
    """A finding with the figure that stands large beside it."""
    kind = "doubt" if finding.importance < 40 else "fact"
    if finding.kind == "wrong-data":
        kind = "wrong"
    return {
        "figure": _figure(finding),
        "text": finding.text,
        "remedy": finding.remedy,
        "kind": kind,
        "label": finding.label,
    }


def _figure(finding: Finding) -> str:
    if finding.figure or math.isnan(finding.value):
        return finding.figure
    if math.isnan(finding.low):
        return f"{finding.value:.0f}"
    return times(finding.value).replace("x", "×")


def _ends(low: float, high: float, form: Callable[[float], str]) -> str:
    """An interval in words; one of two launches may be so wide that its ends only mislead."""
    return "interval unknown" if says_nothing(low, high) else f"{form(low)} to {form(high)}"


def _library(entry: Overview, names: list[str]) -> dict[str, Any]:
    several = entry.launches > 1
    latency = _ends(entry.latency_low_s, entry.latency_high_s, format_time)
    peak = _ends(entry.peak_low_Bps, entry.peak_high_Bps, format_rate)
    return {
        "color": names.index(entry.series) % len(themes.PALETTE_LIGHT),
        "name": entry.series,
        "latency": format_time(entry.latency_s),
        "latency_note": f"{latency}, {format_size(entry.latency_bytes)}" if several else "",
        "n_half": n_half_text(entry.n_half_bytes),
        "n_half_note": n_half_ends(entry),
        "peak": format_rate(entry.peak_Bps),
        "peak_note": f"{peak}, {format_size(entry.peak_bytes)}" if several else "",
        "switches": [f"{format_size(low)} – {format_size(high)}" for low, high in entry.switches],
    }
