"""Findings on what further runs differ by from the first."""

import math
from collections.abc import Iterator, Mapping

from nhalf.base.numbers import change, change_span, percent
from nhalf.base.units import format_size
from nhalf.decide import runs_compared
from nhalf.decide.changes import CurveRatio
from nhalf.facts.facts import Facts
from nhalf.present.changes import curve_names
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count
from nhalf.statistics.doubt import shared_reason, shared_remedies
from nhalf.statistics.intervals import Interval

CHANGED, SAME = 95, 60
LABELS = {
    **{"slower": "Slower run", "faster": "Faster run", "mixed": "Slower in places"},
    **{"equal": "Equal runs", "unclear": "Unclear", "longer": "Longer tails"},
}


class RunChange(Finder[Facts]):
    """What further runs differ by from the first."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for run_change in runs_compared.run_changes(facts):
            yield change_finding(run_change, facts.titles)


def change_finding(change_of: runs_compared.RunChange, titles: Mapping[str, str]) -> Finding:
    """What two runs differ by; where that is unclear, why, and what would decide it."""
    verdict: str = change_of.comparison.verdict
    if verdict in ("equal", "unclear"):
        return _without_change(change_of, verdict)
    changed = [
        curve
        for curve in change_of.comparison.by_evidence()
        if curve.verdict in ("slower", "faster", "mixed")
    ]
    changed += change_of.comparison.longer_tails
    first = changed[0]
    if first.quantile_share is not None:
        verdict = "longer"
    words = {
        "longer": f"slower than {change_of.before} in its slowest samples",
        "slower": f"slower than {change_of.before}",
        "faster": f"faster than {change_of.before}",
        "mixed": f"slower than {change_of.before} in places and faster in others",
    }
    further = f"; and {count(len(changed) - 1, 'other curve')}" if len(changed) > 1 else ""
    text = f"{change_of.now} is {words[verdict]}: {_curve(first, titles)}{further}."
    shown, size_bytes = first.shown, first.decisive.size_bytes if first.decisive else None
    numbers = {"interval": Interval(shown.ratio, shown.low, shown.high), "mpi": first.mpi_b}
    about = {"figure": change(shown.ratio), "size_bytes": size_bytes}
    kind, label = "run-change", LABELS[verdict]
    return Finding.of(first.point, text, CHANGED, kind, label, **numbers, **about)


def _curve(curve: CurveRatio, titles: Mapping[str, str]) -> str:
    """'pingpong, MPICH 5.0.2: +28.6 % at 8 B (+25 % to +32 %)'."""
    libraries = " → ".join(dict.fromkeys(titles.get(m, m) for m in (curve.mpi_a, curve.mpi_b)))
    (name,) = curve_names([{**curve.point, "mpi": libraries, "quantile": curve.quantile_share}])
    place = f" at {format_size(curve.decisive.size_bytes)}" if curve.decisive else ""
    span = change_span(curve.shown.ratio, curve.shown.low, curve.shown.high)
    return f"{name}, {change(curve.shown.ratio)}{place} ({span})"


def _without_change(change_of: runs_compared.RunChange, verdict: str) -> Finding:
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
