# SPDX-License-Identifier: Apache-2.0
"""Points of collective operations, and their starts and variants."""

from __future__ import annotations

import polars as pl

from nhalf.base.operations import COLLECTIVES, NATIVE
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.keys import VARIED_POINT

OWN_CHOICE = pl.col("algorithm").is_in([NATIVE, ""])
"""Points with the library's own choice of algorithm."""

VARIANTS = {
    "start=barrier": "started after a barrier",
    "start=rotating": "chained by rotating roots",
    "buffers=cold": "buffers not in cache",
    "call=first": "first call on a communicator",
    "place=in": "in place",
}
"""The words for an axis that differs from the standard: started together, warm, steady, out of
place."""


def standard(points: pl.DataFrame) -> pl.DataFrame:
    """The standard points of blocking operations: no axis differs from its default.

    The algorithm is the library's own choice.
    """
    return usual(points).filter(OWN_CHOICE)


def usual(points: pl.DataFrame) -> pl.DataFrame:
    """Keep the points under standard conditions, with every measured algorithm."""
    return points.filter(pl.col("pattern").is_in(COLLECTIVES) & (pl.col("axes") == ""))


def varied(frame: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """Launches of blocking operations that differ from the standard in one axis.

    `frame` has the columns of a point, launch and `median_s`. Adds `variant`, `series`,
    `standard_s` and `ratio` = median_s / standard_s, paired by launch.
    """
    operations = frame.filter(pl.col("pattern").is_in(COLLECTIVES) & (pl.col("median_s") > 0))
    plain = operations.filter(pl.col("axes") == "").rename({"median_s": "standard_s"})
    variants = operations.filter(pl.col("axes").is_in(list(VARIANTS)))
    keys = [*VARIED_POINT, "launch"]
    paired = variants.join(plain.select(*keys, "standard_s"), on=keys, nulls_equal=True)
    compared = paired.with_columns(
        variant=pl.col("axes").replace_strict(VARIANTS, return_dtype=pl.String),
        ratio=pl.col("median_s") / pl.col("standard_s"),
        axes=pl.lit(""),
    )
    return with_series(compared, facts)


@fact
def by_ranks(facts: Facts) -> pl.DataFrame:
    """The points, with `series`, of operations measured on several numbers of ranks."""
    points = with_series(standard(facts.sound), facts, on_axis=["ranks"])
    return points.filter(pl.col("ranks").n_unique().over("series", "pattern", "bytes") > 1)


@fact
def algorithms(facts: Facts) -> pl.DataFrame:
    """The points, with `series`, of operations with a chosen algorithm, without barriers.

    `kind` is the algorithm, '' for the library's own choice.
    """
    points = usual(facts.sound)
    chosen = (~OWN_CHOICE).any().over("pattern")
    subjects = points.filter(chosen, pl.col("pattern") != "barrier").with_columns(
        kind=pl.when(OWN_CHOICE).then(pl.lit("")).otherwise("algorithm"),
        algorithm=pl.lit(NATIVE),
    )
    return with_series(subjects, facts)
