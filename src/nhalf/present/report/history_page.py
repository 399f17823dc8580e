"""A history as one page: the changes in words, every curve over time, and all values."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.base.numbers import change, change_span, fixed, percent
from nhalf.decide.history.history import METHOD, History, Shift, moment
from nhalf.present.change_words import around_text, at_text, ends, unclear_lines
from nhalf.present.charts.history import history_chart
from nhalf.present.curve_names import curve_names
from nhalf.present.findings import Finding
from nhalf.present.panels import Table
from nhalf.present.report.caption import captioned
from nhalf.present.report.page import LEAD_FINDINGS, card, rendered
from nhalf.present.report.sections import Section
from nhalf.statistics.change_points import ERROR

FOOTER = (
    f"Levels are the interquartile mean over sizes, relative to the first run; changes by {METHOD}."
)
COURSE_HOW = (
    "Lower is faster: each mark is a run, its bar the 95 % interval over launches; a dashed line "
    "is the first run of a new level."
)
NOTHING_CHANGED = "No curve changed from one run to another beyond the stated thresholds."
VALUES_HOW = "Every run of every curve, relative to the curve's first run."


def history_page(
    history: History, alarms: Sequence[str] = (), changes: Sequence[Finding] = ()
) -> str:
    """The whole page as HTML; `alarms` come first, then how few runs differ from the first."""
    names = curve_names([curve.levels.curve for curve in history.curves])
    cards = [*map(card, changes), *_cards(history, names)]
    runs = list(history.started_s)
    first, last = (moment(history.started_s[run]) for run in (runs[0], runs[-1]))
    return rendered(
        alarms=alarms,
        nothing=NOTHING_CHANGED,
        title="Performance over time",
        subtitle=f"{len(runs)} runs · {first} to {last}",
        sureness=[
            (str(len(runs)), "runs"),
            (str(len(history.curves)), "curves in at least two runs"),
            (str(len(history.shifts)), "changes found"),
            (percent(ERROR, None), "of histories without a change show one, at most"),
        ],
        footer=FOOTER,
        lead=cards[:LEAD_FINDINGS],
        others=cards[LEAD_FINDINGS:],
        libraries=[],
        sections=_sections(history, names),
    )


def _cards(history: History, names: list[str]) -> list[dict[str, str]]:
    called = {id(curve.levels): name for name, curve in zip(names, history.curves, strict=True)}
    cards = [
        {
            "figure": change(shift.ratio),
            "text": f"{called[id(levels)]}: from {shift.date} on (first run {at_text(shift)}), "
            f"interval {change_span(shift.ratio, shift.low, shift.high)}.",
            "remedy": _remedy(shift, str(history.latest)),
            "kind": "doubt" if shift.verdict == "unclear" else "fact",
            "label": shift.verdict.capitalize(),
        }
        for levels, shift in history.shifts
    ]
    cards += [
        {
            "figure": "?",
            "text": f"{line}.",
            "remedy": "Measure with more launches, on a quiet machine.",
            "kind": "doubt",
            "label": "Unclear",
        }
        for line in unclear_lines(history, names)
    ]
    return cards + [
        {
            "figure": change(curve.last_ratio),
            "text": f"{name}: the last run differs from those before.",
            "remedy": "Another run will show whether that persists.",
            "kind": "doubt",
            "label": "Last run",
        }
        for name, curve in zip(names, history.curves, strict=True)
        if curve.last_ratio is not None
    ]


def _remedy(shift: Shift, run: str) -> str:
    """Say why a change is unclear and what would decide it, and what changed with it."""
    doubt = f"Unclear: {shift.doubt.reason}; {shift.doubt.remedy.replace('RUN', run)}."
    around = f"Changed with it: {around_text(shift)}."
    lines = [*([doubt] if shift.doubt.reason else []), *([around] if shift.differences else [])]
    return " ".join(lines)


def _sections(history: History, names: list[str]) -> list[Section]:
    spec = {**history_chart(history, names).to_dict(), "description": f"Course. {COURSE_HOW}"}
    spec = captioned(spec, {"expr": "shown"})
    rows = []
    for name, curve in zip(names, history.curves, strict=True):
        levels = curve.levels
        for i, run in enumerate(levels.runs):
            interval = ends(levels.low[i], levels.high[i])
            when = moment(history.started_s[run])
            ratio = f"{fixed(levels.ratio[i], 3)}"
            rows.append([name, when, ratio, interval, levels.libraries[i], run])
    columns = ["curve", "measured", "/ first", "interval", "library", "run"]
    return [
        Section("course", "Over time", COURSE_HOW, spec, None),
        Section("values", "Values", VALUES_HOW, None, Table(columns, rows)),
    ]
