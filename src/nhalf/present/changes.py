"""Curves in words, without what all of them have in common, and changes of them over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nhalf.base.carrier import carrier
from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import fixed, span
from nhalf.base.operations import NATIVE
from nhalf.decide.changes import tail_name

if TYPE_CHECKING:
    from nhalf.decide.history.history import History, Shift


def curve_names(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each curve by pattern and library, and by ranks, placement and axes that differ.

    A tail has its `quantile` beside the columns of a curve.
    """
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
    parts.append(tail_name(curve.get("quantile")))
    return ", ".join(filter(None, parts))


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
