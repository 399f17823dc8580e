"""Requests to a probe: one line per point."""

from __future__ import annotations

from nhalf.measure.plan.plan import Point

SHORT_SLICE_S = 0.005
"""Within shorter slices, operations that are timed one by one are sampled only three times."""


def line(
    identity: str, point: Point, slice_s: float, precision: float, timing: str, visits: int = 1
) -> str:
    """Return the request for a visit to a point, of `visits` in the launch, as the probe reads it.

    The probe's own minimum number of samples would take operations that are timed one by one far
    beyond a short slice.
    """
    axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
    share = f" visits={visits}" if visits > 1 else ""
    few = " samples_min=3" if timing != "first-rank" and slice_s < SHORT_SLICE_S else ""
    return (
        f"id={identity} pattern={point.pattern} bytes={point.size_bytes} "
        f"slice_s={slice_s:.6f} precision={precision:.6f}{share}{few}{axes}"
    )
