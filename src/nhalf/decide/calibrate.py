"""From a measured run to a machine that can be simulated.

The machine's ping-pongs are the fitted segments; if one of them is more than TOLERANCE from the
reported median of a measured size, the piece of the curve around that size is scaled to it. Scaled
segments keep coefficients of at least 0.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import polars as pl

from nhalf.facts.facts import Facts
from nhalf.machines.curve import PINGPONG, breakpoints_between
from nhalf.machines.machine import FittedModel, Machine, Segment

TOLERANCE = 0.02

Measured = Sequence[tuple[int, float]]
"""Sizes in bytes, increasing, and the reported median of each in seconds."""


def calibrated(facts: Facts) -> Machine:
    """The machine of a run, with ping-pongs that follow the measurements.

    Raises InputError if the run has no curve to fit.
    """
    machine, summary = facts.machine, facts.summary
    models = tuple(
        follow(model, _measured(summary, model)) if model.pattern == PINGPONG else model
        for model in machine.models
    )
    return msgspec.structs.replace(machine, models=models)


def follow(model: FittedModel, measured: Measured) -> FittedModel:
    """The model, with a scaled piece around each measured size from which it deviates too much."""
    segments: list[Segment] = []
    bounds = model.start_bytes
    ends = [*(start - 1 for start in bounds[1:]), model.segments[-1].to_bytes]
    for segment, low, high in zip(model.segments, bounds, ends, strict=True):
        inside = [(size, time_s) for size, time_s in measured if low <= size <= high]
        segments += _followed(segment, low, max(low, high), inside)
    return msgspec.structs.replace(
        model, segments=tuple(segments), breakpoints=breakpoints_between(segments)
    )


def _followed(segment: Segment, low: int, high: int, inside: Measured) -> Iterable[Segment]:
    """A segment in pieces, one for each run of sizes that need the same scale."""
    if not inside:
        yield msgspec.structs.replace(segment, from_bytes=low, to_bytes=high)
        return
    borders = [math.ceil(math.sqrt(max(a, 1) * b)) for (a, _), (b, _) in itertools.pairwise(inside)]
    scales = []
    for size, time_s in inside:
        scale = time_s / segment.time_s(size) if segment.time_s(size) > 0 else 1.0
        scales.append(scale if abs(scale - 1) > TOLERANCE else 1.0)
    begin = low
    for place, scale in enumerate(scales):
        last = place == len(scales) - 1
        if not last and scales[place + 1] == scale:
            continue
        end = high if last else borders[place] - 1
        yield msgspec.structs.replace(
            segment,
            from_bytes=begin,
            to_bytes=max(begin, end),
            t0_s=segment.t0_s * scale,
            r_inf_Bps=segment.r_inf_Bps / scale,
            n_half_bytes=segment.n_half_bytes,
            t0_ci=None,
            r_inf_ci=None,
            n_half_ci=None,
        )
        begin = end + 1


def points_of(summary: pl.DataFrame, model: FittedModel) -> list[dict[str, Any]]:
    """The sound points of a curve, by size."""
    rows = summary.filter(
        *(
            pl.col(name).fill_null("") == getattr(model, name)
            for name in ("transport", "mpi", "pattern", "placement", "axes")
        ),
        pl.col("ranks") == model.ranks,
        pl.col("verified") & (pl.col("median_s") > 0),
    )
    return rows.sort("bytes").to_dicts()


def _measured(summary: pl.DataFrame, model: FittedModel) -> Measured:
    return [(int(row["bytes"]), float(row["median_s"])) for row in points_of(summary, model)]
