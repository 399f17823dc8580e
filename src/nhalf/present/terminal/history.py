"""`nhalf history` on the terminal, every curve in a line, its changes, its runs; and as JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console

from nhalf.base.arrays import Floats
from nhalf.base.numbers import change, change_span, fixed, half_width_text
from nhalf.base.rows import members
from nhalf.base.units import format_time
from nhalf.decide.history.cluster import slower
from nhalf.decide.history.history import METHOD, RUNS_SURE, CurveHistory, History, Shift, moment
from nhalf.decide.history.levels import Levels
from nhalf.present.changes import (
    around_text,
    at_text,
    curve_names,
    ends,
    shown_curves,
    slower_line,
    unclear_lines,
)
from nhalf.present.terminal.changes import open_lines
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import raw_text, show_table


def as_json(history: History) -> dict[str, Any]:
    """The output of `nhalf history --json`; an unknown interval is null."""
    return {
        "method": METHOD,
        "error": history.error,
        "runs": [{"run": run, "started_s": at} for run, at in history.started_s.items()],
        "curves": [_curve_json(c) for c in history.curves if "quantile" not in c.levels.curve],
        "slower": [
            {
                **{"nodes": list(change.nodes), "name": change.name, "ratio": change.ratio},
                **{"since_s": change.since_s, "slower_pairs": len(change.curves)},
                "pairs": change.pairs,
            }
            for change in slower(history)
        ],
        "tails": [_curve_json(c) for c in history.curves if "quantile" in c.levels.curve],
    }


def _curve_json(curve: CurveHistory) -> dict[str, Any]:
    levels = curve.levels
    return {
        **levels.curve,
        "bytes": list(levels.sizes),
        "levels": [
            {
                "run": run,
                "library": levels.libraries[i],
                "launches": levels.launches[i],
                "ratio": float(levels.ratio[i]),
                "ci": [float(levels.low[i]), float(levels.high[i])],
                "time_s": float(levels.time_s * levels.ratio[i]),
            }
            for i, run in enumerate(levels.runs)
        ],
        "changes": [_shift_json(shift) for shift in curve.shifts],
        "last_apart": curve.last_ratio,
        "unclear_runs": curve.unclear_runs,
    }


def _shift_json(shift: Shift) -> dict[str, Any]:
    return {
        **members(shift, "before", "at"),
        **{"at_first": shift.first, "at_last": shift.last},
        **members(shift, "started_s", "verdict", "ratio"),
        "ci": [shift.low, shift.high],
        **members(shift.doubt, "reason", "remedy"),
        "environment": [vars(difference) for difference in shift.differences],
    }


BARS = "▁▂▃▄▅▆▇█"
SPARK_MAX = 40
FLAT = 0.02
"""A spark line of less than this share from top to bottom shows no height."""


def show_history(screen: Console, history: History, every_run: bool) -> None:
    """Print the curves and their changes and, with `every_run`, each run of each curve."""
    count = len(history.curves)
    history = replace(history, curves=tuple(shown_curves(history)))
    names = curve_names([curve.levels.curve for curve in history.curves])
    runs = list(history.started_s)
    first, last = (moment(history.started_s[run]) for run in (runs[0], runs[-1]))
    head = f"{len(runs)} {history.occasions}, {first} to {last}{_resolution(history)}"
    screen.print(head, markup=False)
    print_lines(screen, *(slower_line(slowdown) for slowdown in slower(history)))
    rows = [
        [
            name,
            str(len(curve.levels.runs)),
            spark(curve.levels.ratio),
            fixed(curve.levels.ratio[-1], 3),
            ends(curve.levels.low[-1], curve.levels.high[-1]),
            str(len(curve.shifts)),
        ]
        for name, curve in zip(names, history.curves, strict=True)
    ]
    show_table(
        ["curve", history.occasions, "over time", "last / first", "interval", "changes"], rows
    )
    if more := count - len(names):
        screen.print(f"and {more} more, of which none changed", markup=False)
    _show_changes(screen, history, names)
    if every_run:
        for name, curve in zip(names, history.curves, strict=True):
            _show_levels(screen, name, curve.levels, history)


def _resolution(history: History) -> str:
    """How well the last runs of curves are known, in words."""
    widths = [curve.levels.high[-1] / curve.levels.ratio[-1] - 1 for curve in history.curves]
    half_widths = [float(width) for width in widths if width > 0]
    if not half_widths:
        return ""
    usual = half_width_text(median(half_widths))
    return f"; half of the curves are known to {usual} in their last run"


def _show_changes(screen: Console, history: History, names: list[str]) -> None:
    """Print the changes, the surest slow-down first, and a line for what is unclear."""
    called = {id(curve.levels): name for name, curve in zip(names, history.curves, strict=True)}
    rows = [
        [
            shift.date,
            called[id(levels)],
            change(shift.ratio),
            change_span(shift.ratio, shift.low, shift.high),
            shift.verdict,
            at_text(shift),
            around_text(shift) or "nothing that was recorded",
        ]
        for levels, shift in history.shifts
        if shift.verdict != "unclear"
    ]
    doubts = [
        (called[id(levels)], shift.doubt)
        for levels, shift in history.shifts
        if shift.verdict == "unclear"
    ]
    if rows:
        head = ["changed", "curve", "time", "interval", "verdict", "first run"]
        show_table([*head, "what else changed"], rows)
    elif not doubts:
        screen.print("No curve changed.")
    print_lines(screen, *open_lines(doubts, bool(rows), str(history.latest)))
    for name, curve in zip(names, history.curves, strict=True):
        if curve.last_ratio is not None:
            screen.print(
                f"{name}: the last run differs by {change(curve.last_ratio)}; another run "
                "tells whether that stays",
                markup=False,
            )
    print_lines(screen, *unclear_lines(history, names))
    most = max((len(curve.levels.runs) for curve in history.curves), default=RUNS_SURE)
    if most < RUNS_SURE:
        screen.print(
            f"A change needs two {history.occasions} on either side: {RUNS_SURE} in all.",
            style="dim",
        )


def _show_levels(screen: Console, name: str, levels: Levels, history: History) -> None:
    screen.print(f"\n{name}", style="bold", markup=False)
    timed = not math.isnan(levels.time_s)
    rows = []
    for i, run in enumerate(levels.runs):
        row = [moment(history.started_s[run]), f"{fixed(levels.ratio[i], 3)}"]
        row += [ends(levels.low[i], levels.high[i]), str(levels.launches[i])]
        row += [format_time(levels.time_s * levels.ratio[i])] if timed else []
        rows.append([*row, levels.libraries[i], run])
    head = ["measured", "/ first", "interval", "launches", *(["time"] if timed else [])]
    show_table([*head, "library", "run"], rows)


def show_values(history: History) -> None:
    """Print every run of every curve as one table of plain numbers."""
    curves = [curve for curve in history.curves if "quantile" not in curve.levels.curve]
    names = list(dict.fromkeys(name for curve in curves for name in curve.levels.curve))
    rows = []
    for curve in curves:
        levels, changed = curve.levels, {shift.at for shift in curve.shifts}
        for i, run in enumerate(levels.runs):
            values = [*map(levels.curve.get, names), run, history.started_s[run]]
            values += [levels.libraries[i], levels.launches[i]]
            values += [levels.ratio[i], levels.low[i], levels.high[i], run in changed]
            rows.append([*map(raw_text, values)])
    columns = ["run", "started_s", "library", "launches", "ratio", "ci_low", "ci_high", "changed"]
    show_table([*names, *columns], rows)


def spark(ratios: Floats) -> str:
    """The course of a curve in a few characters: its latest values, from least to most."""
    shown = ratios[-SPARK_MAX:]
    low, high = float(shown.min()), float(shown.max())
    if high < low * (1 + FLAT):
        return BARS[0] * len(shown)
    steps = np.round((np.log(shown / low) / math.log(high / low)) * (len(BARS) - 1))
    return "".join(BARS[int(step)] for step in steps)
