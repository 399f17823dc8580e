# SPDX-License-Identifier: Apache-2.0
"""The time of each step in the life of remote memory: setup, use and release."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.axes import axis

PATTERN = "primitive"
STEPS = {
    **dict.fromkeys(("create", "register", "publish", "connect", "map"), "setup"),
    **dict.fromkeys(("put", "get", "fence", "signal"), "transfer"),
    **dict.fromkeys(("disconnect", "unmap", "destroy"), "teardown"),
}
"""The part of a segment's life to which each step belongs, in the order of both."""
PARTS = tuple(dict.fromkeys(STEPS.values()))


@fact
def step_times(facts: Facts) -> pl.DataFrame:
    """One row per series, segment size and step, in chronological order.

    `time_s` is the median over launches, at least 0, with `ci_low_s` and `ci_high_s`; `share` is
    its share of the total; `part` is one of PARTS, `place` the position of the step.
    """
    places = {step: place for place, step in enumerate(STEPS)}
    points = facts.summary.filter(pl.col("pattern") == PATTERN).with_columns(axis("step"))
    points = points.filter(pl.col("step").is_in(list(STEPS)))
    life = ["series", "bytes"]
    return (
        with_series(points, facts)
        .with_columns(
            time_s=pl.col("median_s").clip(lower_bound=0.0),
            part=pl.col("step").replace_strict(STEPS, return_dtype=pl.String),
            place=pl.col("step").replace_strict(places, return_dtype=pl.Int64),
        )
        .with_columns(share=pl.col("time_s") / pl.col("time_s").sum().over(life))
        .filter(pl.col("share").is_finite())
        .sort(*life, "place")
        .select(*life, "step", "part", "place", "time_s", "ci_low_s", "ci_high_s", "share")
    )


@fact
def part_times(facts: Facts) -> pl.DataFrame:
    """Setup, transfer and teardown of every series and segment size: `time_s` and `share`."""
    life = ["series", "bytes", "part"]
    return (
        step_times(facts)
        .group_by(life, maintain_order=True)
        .agg(pl.col("time_s", "share").sum(), pl.col("place").min())
        .sort("series", "bytes", "place")
        .drop("place")
    )
