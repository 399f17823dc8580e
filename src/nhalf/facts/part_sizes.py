"""The fastest size of parts of algorithms that cut messages, where several were measured."""

from __future__ import annotations

import polars as pl

from nhalf.facts.contests import with_cores
from nhalf.facts.difference import beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.models.expression import PART_BYTES
from nhalf.statistics.intervals import Interval
from nhalf.store.axes import axis
from nhalf.store.keys import VARIED_POINT

PART = "part"
FASTER = 1.1
"""The best of several sizes is slightly faster by chance: a smaller gain is not reported."""


@fact
def part_medians(facts: Facts) -> pl.DataFrame:
    """One row per point and `part_bytes`, with `median_s` over launches, sorted.

    Only points that were measured with several sizes of parts.
    """
    launches = _launches(facts)
    medians = launches.group_by(*VARIED_POINT, "part_bytes").agg(pl.col("median_s").median())
    several = pl.len().over(VARIED_POINT) > 1
    return medians.filter(several).sort(*VARIED_POINT, "part_bytes")


@fact
def best_parts(facts: Facts) -> pl.DataFrame:
    """The row of `part_medians` with the shortest time for each point.

    `usual_s` is the time in parts of the usual size, null if that was not measured.
    """
    by_time = part_medians(facts).sort("median_s", maintain_order=True)
    usual_s = pl.col("median_s").filter(pl.col("part_bytes") == PART_BYTES).first()
    return by_time.group_by(VARIED_POINT, maintain_order=True).agg(
        pl.col("part_bytes", "median_s").first(), usual_s=usual_s
    )


@fact
def gains_by_part(facts: Facts) -> pl.DataFrame:
    """Rows of `best_parts` that are significantly faster than the usual parts, with `gain`.

    `gain` is the interval of the usual time over that of the best parts, paired by launch.
    """
    launches = _launches(facts)
    usual = launches.filter(pl.col("part_bytes") == PART_BYTES).select(
        *VARIED_POINT, "launch", of_usual_s="median_s"
    )
    best = best_parts(facts)
    keys = [*VARIED_POINT, "part_bytes"]
    paired = launches.join(best.select(keys), on=keys, nulls_equal=True).join(
        usual, on=[*VARIED_POINT, "launch"], nulls_equal=True
    )
    ratios = paired.group_by(keys, maintain_order=True).agg(
        ratios=pl.col("of_usual_s") / pl.col("median_s")
    )
    rows = best.join(ratios, on=keys, nulls_equal=True)
    intervals: list[Interval | None] = [beyond(values, FASTER) for values in rows["ratios"]]
    gains = rows.with_columns(pl.Series("gain", intervals, dtype=pl.Object))
    return gains.filter(
        pl.Series([interval is not None for interval in intervals], dtype=pl.Boolean)
    )


@fact
def _launches(facts: Facts) -> pl.DataFrame:
    """Launches of algorithms whose only further axis is the size of a part, as `part_bytes`."""
    only_part = pl.col("axes").str.contains(rf"^({PART}=\d+)?$")
    timed = facts.launches.filter(only_part & (pl.col("median_s") > 0))
    in_parts = timed.with_columns(part_bytes=axis(PART).cast(pl.Int64).fill_null(PART_BYTES))
    return with_cores(in_parts, facts)
