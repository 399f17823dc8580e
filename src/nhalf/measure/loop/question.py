# SPDX-License-Identifier: Apache-2.0
"""What a probe is asked: one point a line."""

from __future__ import annotations

from nhalf.measure.plan.plan import Point

SHORT_SLICE_S = 0.005
"""In less, operations that are timed one by one are sampled three times only."""


def line(identity: str, point: Point, slice_s: float, precision: float, timing: str) -> str:
    """A point as the probe reads it.

    In a short slice, operations that are timed one by one would be sampled far beyond it by the
    probe's own least number.
    """
    axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
    few = " samples_min=3" if timing != "first-rank" and slice_s < SHORT_SLICE_S else ""
    return (
        f"id={identity} pattern={point.pattern} bytes={point.size_bytes} "
        f"slice_s={slice_s:.6f} precision={precision:.6f}{few}{axes}"
    )
