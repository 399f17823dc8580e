"""Changes of curves and runs in words, and curves without what all of them have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.carrier import carrier
from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import change, change_span, fixed, percent, span
from nhalf.base.operations import NATIVE
from nhalf.base.units import format_size
from nhalf.decide.changes import CurveRatio
from nhalf.decide.history.history import History, Shift
from nhalf.decide.history.unclear import RUNS_MAX
from nhalf.decide.runs_compared import RunChange
from nhalf.present.findings import Finding
from nhalf.present.wording import count
from nhalf.statistics.doubt import shared_reason, shared_remedies


def curve_names(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each curve by pattern and library, and by ranks, placement and axes that differ."""
    varies = {
        name: len({curve[name] for curve in curves}) > 1 for name in ("ranks", "placement", "axes")
    }
    return [_name(curve, varies) for curve in curves]


def _name(curve: Mapping[str, Any], varies: Mapping[str, bool]) -> str:
    algorithm = "" if curve["algorithm"] == NATIVE else curve["algorithm"]
    pattern = "/".join(filter(None, (curve["pattern"], algorithm)))
    parts = [pattern, carrier(curve["mpi"], curve["transport"])]
    if varies["ranks"]:
        parts.append(ranks_text(curve["ranks"]))
    parts += [curve[name] for name in ("placement", "axes") if varies[name]]
    return ", ".join(filter(None, parts))


DIFFERENCES_MAX = 4
"""This many lines of the environment are named; the others are counted."""


def ends(low: float, high: float) -> str:
    """Format an interval as '0.98 to 1.03', or '–' if there is none."""
    return span(low, high, lambda ratio: fixed(ratio, 3))


def at_text(shift: Shift) -> str:
    """Name the first run of the new level, with the range of runs if that is uncertain."""
    if shift.first == shift.last:
        return shift.at
    return f"{shift.at} ({shift.first} to {shift.last})"


def around_text(shift: Shift) -> str:
    """List what changed in the environment with a level: 'governor: performance → powersave'."""
    changes = [
        f"{difference.name}: {difference.before} → {difference.after}"
        for difference in shift.differences
    ]
    more = len(changes) - DIFFERENCES_MAX
    remainder = [f"and {more} more (all with --json)"] if more > 0 else []
    return "; ".join([*changes[:DIFFERENCES_MAX], *remainder])


def unclear_lines(history: History, names: Sequence[str]) -> list[str]:
    """What was not decided for several runs in a row, a line for each number of runs."""
    by_count: dict[int, list[str]] = {}
    for name, curve in zip(names, history.curves, strict=True):
        if curve.unclear_runs > 1:
            by_count.setdefault(curve.unclear_runs, []).append(name)
    first = next(iter(history.started_s))
    return [
        f"{few(by_count[runs], 3)}: unclear against {first} for the last "
        f"{runs}{' or more' * (runs == RUNS_MAX)} runs"
        for runs in sorted(by_count, reverse=True)
    ]


CHANGED, SAME = 95, 60
LABELS = {
    **{"slower": "Slower run", "faster": "Faster run", "mixed": "Slower in places"},
    **{"equal": "Equal runs", "unclear": "Unclear"},
}


def change_finding(change_of: RunChange, titles: Mapping[str, str]) -> Finding:
    """What two runs differ by; where that is unclear, why, and what would decide it."""
    verdict = change_of.comparison.verdict
    if verdict in ("equal", "unclear"):
        return _without_change(change_of, verdict)
    changed = [
        curve
        for curve in change_of.comparison.by_evidence()
        if curve.verdict in ("slower", "faster", "mixed")
    ]
    first = changed[0]
    words = {
        "slower": f"slower than {change_of.before}",
        "faster": f"faster than {change_of.before}",
        "mixed": f"slower than {change_of.before} in places and faster in others",
    }
    further = f"; and {count(len(changed) - 1, 'other curve')}" if len(changed) > 1 else ""
    return Finding(
        f"{change_of.now} is {words[verdict]}: {_curve(first, titles)}{further}.",
        importance=CHANGED,
        kind="run-change",
        label=LABELS[verdict],
        figure=change(first.shown.ratio),
        value=first.shown.ratio,
        low=first.shown.low,
        high=first.shown.high,
        mpi=first.mpi_b,
        pattern=first.point["pattern"],
        size_bytes=first.decisive.size_bytes if first.decisive else None,
    )


def _curve(curve: CurveRatio, titles: Mapping[str, str]) -> str:
    """'pingpong, MPICH 5.0.2: +28.6 % at 8 B (+25 % to +32 %)'."""
    libraries = " → ".join(dict.fromkeys(titles.get(m, m) for m in (curve.mpi_a, curve.mpi_b)))
    (name,) = curve_names([{**curve.point, "mpi": libraries}])
    place = f" at {format_size(curve.decisive.size_bytes)}" if curve.decisive else ""
    span = change_span(curve.shown.ratio, curve.shown.low, curve.shown.high)
    return f"{name}, {change(curve.shown.ratio)}{place} ({span})"


def _without_change(change_of: RunChange, verdict: str) -> Finding:
    """That two runs are equal, or why it is unclear whether they are."""
    curves = change_of.comparison.curves
    within = percent(change_of.comparison.threshold - 1)
    if verdict == "equal" and not change_of.lost:
        text = (
            f"{change_of.now} is as fast as {change_of.before}: "
            f"{count(len(curves), 'curve')} within {within}."
        )
        return Finding(text, SAME, "run-change", label=LABELS["equal"], figure=f"±{within}")
    doubts = [*change_of.lost, *(curve.doubt for curve in curves if curve.verdict == "unclear")]
    alike = [doubt for doubt in doubts if doubt.form == doubts[0].form]
    shown = max(curves, key=_distance) if curves else None
    observed = f" ({change(shown.ratio.ratio)} was seen)" if shown else ""
    remedy = next(iter(shared_remedies(doubts)), "")
    return Finding(
        f"Whether {change_of.now} is slower than {change_of.before} is unclear{observed}: "
        f"{shared_reason(alike)}.",
        importance=SAME,
        kind="run-change",
        remedy=f"To decide: {remedy.replace('RUN', change_of.now)}." if remedy else "",
        label=LABELS["unclear"],
        figure=change(shown.ratio.ratio) if shown else "–",
    )


def _distance(curve: CurveRatio) -> float:
    """How far a curve's ratio is from 1, either way."""
    return abs(math.log(curve.ratio.ratio)) if curve.ratio.ratio > 0 else 0.0
