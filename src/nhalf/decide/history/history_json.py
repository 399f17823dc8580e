"""A history as `nhalf history --json` prints it."""

from __future__ import annotations

from typing import Any

from nhalf.decide.history.cluster import slower
from nhalf.decide.history.history import METHOD, CurveHistory, History, Shift


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
        "before": shift.before,
        "at": shift.at,
        "at_first": shift.first,
        "at_last": shift.last,
        "started_s": shift.started_s,
        "verdict": shift.verdict,
        "ratio": shift.ratio,
        "ci": [shift.low, shift.high],
        "reason": shift.doubt.reason,
        "remedy": shift.doubt.remedy,
        "environment": [vars(difference) for difference in shift.differences],
    }
