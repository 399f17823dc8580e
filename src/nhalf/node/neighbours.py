"""Whether other programs had the core while it was measured."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.base.numbers import percent
from nhalf.node.reading import Reading

BUSY_SHARE = 0.1
"""From this share of all points on there is a warning."""
REMEDY = "measure again on a node where nothing else runs"


def preempted_share(readings: Sequence[Reading]) -> float:
    """The share of points during which another program had the core; 0 without points."""
    preempted = sum((reading.value("preempted") or 0) > 0 for reading in readings)
    return preempted / max(1, len(readings))


def warnings(readings: Sequence[Reading]) -> list[str]:
    """Warnings about disturbed points, in sentences."""
    share = preempted_share(readings)
    if share < BUSY_SHARE:
        return []
    return [f"other programs had the core during {percent(share)} of all points; {REMEDY}"]
