"""The report as one file: no network, no server, no second file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from nhalf.base.numbers import format_number, times
from nhalf.base.printable import printable
from nhalf.base.templates import render
from nhalf.base.version import __version__
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.present.findings import WARNING, Finding, headlines
from nhalf.present.report import themes
from nhalf.present.report.bundle import bundle
from nhalf.present.report.heading import NOTHING
from nhalf.present.report.in_words import in_words
from nhalf.present.report.packing import packed
from nhalf.present.report.sections import sections, subject_of
from nhalf.present.report.selectors import selectors

HERE = Path(__file__).parent
STYLE = ("page", "findings", "tables", "charts", "screens", "print")
"""Parts of the style in their order; later ones win."""
SCRIPT = ("data", "theme", "choices", "charts", "tables", "save", "contents")
"""Parts of the script in their order; they form one function."""
LEAD_FINDINGS = 3
"""This many findings stand large; the others follow as a list."""


def page(data: Facts | Program) -> str:
    """The whole report on runs or a traced program as HTML."""
    ordered = headlines(data)
    return rendered(
        lead=[card(finding) for finding in ordered[:LEAD_FINDINGS]],
        others=[card(finding) for finding in ordered[LEAD_FINDINGS:]],
        sections=sections(data),
        **subject_of(data).heading(),
    )


def rendered(series: Sequence[str] = (), **values: Any) -> str:
    """A page of the template, with its style, script and charts.

    `series` are the libraries of which a reader may pick one.
    """
    charts = [section.spec for section in values["sections"] if section.spec]
    context = {
        "version": __version__,
        "verdict": "",
        "alarms": [],
        "nothing": NOTHING,
        "links": {},
        "findings_title": "Findings",
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
    # HTML allows no control characters, and readers such as grep take a page with them for binary.
    return printable(render(HERE / "page.html.j2", context, filters, autoescape=True))


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
    kind = "doubt" if finding.importance < WARNING else "fact"
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
        return format_number(round(finding.value), 7)
    return times(finding.value).replace("x", "×")
