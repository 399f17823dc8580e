# SPDX-License-Identifier: Apache-2.0
"""Changes of a curve in words."""

from __future__ import annotations

import math

from nhalf.decide.history.history import Shift

DIFFERENCES_MAX = 4
"""This many lines of the environment are named; the others are counted."""


def ends(low: float, high: float) -> str:
    """'0.98 to 1.03', '–' where there is no interval."""
    return "–" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def change_text(ratio: float) -> str:
    """A ratio of times as a change: '+25.1 %'."""
    return f"{(ratio - 1) * 100:+.1f} %"


def at_text(shift: Shift) -> str:
    """The first run of the new level, and the range of runs if that is uncertain."""
    if shift.first == shift.last:
        return shift.at
    return f"{shift.at} ({shift.first} to {shift.last})"


def around_text(shift: Shift) -> str:
    """What changed in the environment with a level: 'governor: performance → powersave'."""
    said = [f"{one.name}: {one.before} → {one.after}" for one in shift.differences]
    more = len(said) - DIFFERENCES_MAX
    rest = [f"and {more} more (all with --json)"] if more > 0 else []
    return "; ".join([*said[:DIFFERENCES_MAX], *rest])
