# SPDX-License-Identifier: Apache-2.0
"""Points between any two ranks, and the places of these ranks."""

from __future__ import annotations

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.axes import axis
from nhalf.store.places import Place

PATTERN = "distance"


def with_ranks(frame: pl.DataFrame) -> pl.DataFrame:
    """The points between two named ranks, with the integers `first` and `second`."""
    ends = [axis(name).cast(pl.Int64, strict=False).alias(name) for name in ("first", "second")]
    points = frame.filter((pl.col("pattern") == PATTERN) & (pl.col("median_s") > 0))
    return points.with_columns(ends).drop_nulls(["first", "second"])


def places_of(facts: Facts, row: dict[str, object]) -> list[Place]:
    """The place of every rank in the launches of a point; none if unknown."""
    start = (
        carrier(str(row["mpi"] or ""), str(row["transport"])),
        row["ranks"],
        str(row["placement"]),
    )
    return facts.places.get(str(row["run"]), {}).get(start, [])  # type: ignore[arg-type]


def relation(first: Place, second: Place) -> str:
    """The relation of two ranks: 'same core', 'same host' ..., as far as is certain."""
    if first.host != second.host:
        return "different hosts"
    if not (first.pinned and second.pinned):
        return "same host"
    if first.cpu == second.cpu:
        return "same core"
    return "same memory domain" if first.numa == second.numa else "same host, other memory domain"


@fact
def distances(facts: Facts) -> pl.DataFrame:
    """One row per pair of ranks and size: columns of `Facts.sound`, `first`, `second`, `series`.

    `ratio` is its time over that of the fastest pair at that size; `middle_s` the median over
    all pairs at that size.
    """
    points = with_ranks(facts.sound)
    quickest_s = pl.col("median_s").min().over("bytes")
    middle_s = pl.col("median_s").median().over("bytes")
    ratio = pl.col("median_s") / quickest_s
    return with_series(points.with_columns(ratio=ratio, middle_s=middle_s), facts)
