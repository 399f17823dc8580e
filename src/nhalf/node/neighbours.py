# SPDX-License-Identifier: Apache-2.0
"""Whether other programs took the core while it was measured."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.node.reading import Reading

BUSY_SHARE = 0.1
"""From this share of all points on it is said."""
REMEDY = "measure again on a node where nothing else runs"


def taken_share(found: Sequence[Reading]) -> float:
    """The share of points during which another program had the core; 0 of none."""
    return sum((one.value("preempted") or 0) > 0 for one in found) / max(1, len(found))


def doubts(found: Sequence[Reading]) -> list[str]:
    """What to think of points that were disturbed, in sentences."""
    share = taken_share(found)
    if share < BUSY_SHARE:
        return []
    return [f"other programs had the core during {share:.0%} of all points; {REMEDY}"]
