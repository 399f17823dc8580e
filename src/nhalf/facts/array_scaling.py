# SPDX-License-Identifier: Apache-2.0
"""Scaling of memory bandwidth with cores, by the access to elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.memory import CAST, EVEN, KERNELS, ORDINARY, with_ways
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.keys import VARIED_POINT, without


@dataclass(frozen=True)
class Scaling:
    """Rate of the largest number of ranks over that of one, through casts and in ordinary arrays.

    `ordinary` is None if those were not measured.
    """

    series: str
    mpi: str
    kernel: str
    size_bytes: int
    ranks: int
    cast: Interval
    ordinary: Interval | None


@fact
def cast_scaling(facts: Facts) -> Iterator[Scaling]:
    """By series, for the first of KERNELS that was measured on one rank and on more."""
    ratios = _growth(facts)
    for (series,), frame in ratios.group_by("series", maintain_order=True):
        for kernel in KERNELS:
            casts = frame.filter(kernel=kernel, way=CAST)
            if casts.height < 2:
                continue
            ordinary = frame.filter(kernel=kernel, way=ORDINARY)["ratio"].to_list()
            yield Scaling(
                str(series),
                str(casts["mpi"][0]),
                kernel,
                int(casts["bytes"][0]),
                int(casts["ranks"][0]),
                ratio_interval(casts["ratio"].to_list()),
                ratio_interval(ordinary) if len(ordinary) > 1 else None,
            )
            break


@fact
def _growth(facts: Facts) -> pl.DataFrame:
    """Per launch, for the largest arrays on most ranks, `ratio`: the rate over that of one rank."""
    points = with_ways(facts.launches).filter(pl.col("way").is_in([CAST, ORDINARY]), block=EVEN)
    points = points.filter(pl.col("bytes") == pl.col("bytes").max().over("kernel"))
    keys = [*without(VARIED_POINT, "ranks"), "way", "launch"]
    single_rank = points.filter(ranks=1).select(*keys, one_s="median_s")
    many_ranks = points.filter(
        (pl.col("ranks") > 1) & (pl.col("ranks") == pl.col("ranks").max().over("kernel", "way"))
    )
    ratios = many_ranks.join(single_rank, on=keys, nulls_equal=True).with_columns(
        ratio=pl.col("one_s") / pl.col("median_s")
    )
    return with_series(ratios, facts, on_axis=("ranks", "placement"))
