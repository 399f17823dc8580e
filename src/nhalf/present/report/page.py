"""The report as one file: no network, no server, no second file."""

import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from nhalf.base.errors import MissingError
from nhalf.base.folders import cache_folder, write_cached
from nhalf.base.numbers import format_number, percent, times
from nhalf.base.printable import printable
from nhalf.base.rows import Row
from nhalf.base.templates import render
from nhalf.base.version import __version__
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.present.findings import WARNING, Finding, headlines
from nhalf.present.report import themes
from nhalf.present.report.caption import Spec, choice_of, rows_of
from nhalf.present.report.heading import NOTHING
from nhalf.present.report.sections import sections, subject_of

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
    return max(tips, _tips([part[name] for name in ("layer", "spec") if name in part]), key=len)


HERE = Path(__file__).parent
STYLE = ("page", "findings", "tables", "charts", "screens", "print")
"""Parts of the style in their order; later ones win."""
SCRIPT = ("data", "theme", "choices", "charts", "tables", "save", "contents")
"""Parts of the script in their order; they form one function."""
LEAD_FINDINGS = 3
"""This many findings stand large; the others follow as a list."""


def page(data: Facts | Program) -> str:
    """The whole report on runs or a traced program as HTML."""
    heading = subject_of(data).heading()
    return rendered(map(card, headlines(data)), sections=sections(data), **heading)


def rendered(cards: Iterable[Mapping[str, str]], series: Sequence[str] = (), **values: Any) -> str:
    """A page of the template, with its style, script and charts; the first `cards` stand large.

    `series` are the libraries of which a reader may pick one.
    """
    every_card = list(cards)
    charts = [section.spec for section in values["sections"] if section.spec]
    context = {
        "version": __version__,
        "verdict": "",
        "alarms": [],
        "nothing": NOTHING,
        "links": {},
        "libraries": [],
        "lead": every_card[:LEAD_FINDINGS],
        "others": every_card[LEAD_FINDINGS:],
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
    return card_of(_figure(finding), finding.text, finding.label, finding.remedy, kind)


def card_of(
    figure: str, text: str, label: str = "", remedy: str = "", kind: str = "fact"
) -> dict[str, str]:
    """A card with a large figure, under a label; its kind is a fact, a doubt or wrong data."""
    return {"figure": figure, "text": text, "remedy": remedy, "kind": kind, "label": label}


def _figure(finding: Finding) -> str:
    if finding.figure or math.isnan(finding.value):
        return finding.figure
    if math.isnan(finding.low):
        return format_number(round(finding.value), 7)
    return times(finding.value).replace("x", "×")


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
    """Turn rows into columns, which take a third of the room: repeated words are stored once.

    `script/data.js` makes rows of them again.
    """
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
        import vl_convert  # lazy: a kept script does without it

        text = vl_convert.javascript_bundle(ENTRY)
        with suppress(MissingError):  # a cache that cannot be written costs time only
            write_cached(_kept(), text)
    return script_text(text)


def script_text(source: str) -> str:
    """JavaScript in which nothing reads as the end of its element or as a comment of HTML."""
    return re.sub(r"</(script)", r"<\\/\1", source, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def _kept() -> Path:
    """Path of the cached script, by release of the converter and entry.

    Raises MissingError if somebody else could have written there.
    """
    made_of = f"{version('vl-convert-python')} {ENTRY}"
    return cache_folder() / "scripts" / f"{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.js"
