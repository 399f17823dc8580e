"""Curves in words, without what all of them have in common, and changes of them over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nhalf.base.carrier import carrier
from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import fixed, span, times
from nhalf.base.operations import NATIVE
from nhalf.decide.changes import tail_name
from nhalf.decide.history.levels import NAME, NODES

if TYPE_CHECKING:
    from nhalf.decide.history.cluster import NowSlower
    from nhalf.decide.history.history import CurveHistory, History, Shift


def curve_names(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each curve by pattern and library, and by ranks, placement and axes that differ.

    A tail has its `quantile` beside the columns of a curve; a curve of nodes has them and a name.
    """
    varies = {
        name: len({curve.get(name) for curve in curves}) > 1
        for name in ("ranks", "placement", "axes")
    }
    return [_name(curve, varies) for curve in curves]


def _name(curve: Mapping[str, Any], varies: Mapping[str, bool]) -> str:
    if NODES in curve:
        return f"{curve[NODES]}, {curve[NAME]}"
    algorithm = "" if curve["algorithm"] == NATIVE else curve["algorithm"]
    pattern = "/".join(filter(None, (curve["pattern"], algorithm)))
    parts = [pattern, carrier(curve["mpi"], curve["transport"])]
    if varies["ranks"]:
        parts.append(ranks_text(curve["ranks"]))
    parts += [curve[name] for name in ("placement", "axes") if varies[name]]
    parts.append(tail_name(curve.get("quantile")))
    return ", ".join(filter(None, parts))


NODES_MAX = 24
"""The most curves of nodes and pairs that are all shown; of more, those that changed."""
DIFFERENCES_MAX = 4
"""This many lines of the environment are named; the others are counted."""


def ends(low: float, high: float) -> str:
    """Format an interval as '0.98 to 1.03', or '–' if there is none."""
    return span(low, high, lambda ratio: fixed(ratio, 3))


def at_text(shift: Shift) -> str:
    """Name the first run of the new level, with the range of runs if that is uncertain."""
    return shift.at if shift.first == shift.last else f"{shift.at} ({shift.first} to {shift.last})"


def around_text(shift: Shift) -> str:
    """List what changed in the environment with a level: 'governor: performance → powersave'."""
    changes = [
        f"{difference.name}: {difference.before} → {difference.after}"
        for difference in shift.differences
    ]
    more = len(changes) - DIFFERENCES_MAX
    remainder = [f"and {more} more (all with --json)"] if more > 0 else []
    return "; ".join([*changes[:DIFFERENCES_MAX], *remainder])


def shown_curves(history: History) -> list[CurveHistory]:
    """The curves, but of many nodes and pairs only those that changed."""
    of_nodes = [curve for curve in history.curves if NODES in curve.levels.curve]
    if len(of_nodes) <= NODES_MAX:
        return list(history.curves)
    return [c for c in history.curves if NODES not in c.levels.curve or c.shifts]


def slower_line(change: NowSlower) -> str:
    """'n3: transfer takes 1.98x since 2026-04-01 04:00, in 3 of 3 pairs'."""
    from nhalf.decide.history.history import moment

    share = f", in {len(change.curves)} of {change.pairs} pairs" if change.pairs > 1 else ""
    words = f"{change.name} takes {times(change.ratio)} since {moment(change.since_s)}{share}"
    return f"{' '.join(change.nodes)}: {words}"


def unclear_lines(history: History, names: Sequence[str]) -> list[str]:
    """What was not decided for several runs in a row, a line for each number of runs."""
    from nhalf.decide.check.unclear_runs import RUNS_MAX

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
