# SPDX-License-Identifier: Apache-2.0
"""The two ranks that are farthest apart."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.base.units import format_size
from nhalf.facts.contests import beyond
from nhalf.facts.distance import PATTERN, places_of, relation, with_ranks
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import COSTLY, between, times, weight
from nhalf.store.keys import RUN_CURVE, without

LAUNCHES_MIN = 3
SETTING = without(RUN_CURVE, "pattern", "axes")


class SlowestPair(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        launches = with_ranks(data.launches)
        smallest = pl.col("bytes") == pl.col("bytes").min().over(SETTING)
        for _, frame in launches.filter(smallest).group_by(SETTING, maintain_order=True):
            yield from _of(frame, data)


def _of(frame: pl.DataFrame, data: Facts) -> Iterator[Finding]:
    if frame["launch"].n_unique() < LAUNCHES_MIN or frame["axes"].n_unique() < 3:
        return
    interval = beyond(_ratios(frame), COSTLY)
    if interval is None:
        return
    slowest = _slowest(frame)
    first = frame.filter(axes=slowest).row(0, named=True)
    series = with_series(frame.head(1), data)["series"][0]
    ranks = [first["first"], first["second"]]
    places = places_of(data, first)
    known = max(ranks) < len(places)
    where = f" ({relation(*(places[rank] for rank in ranks))})" if known else ""
    yield Finding(
        f"{series}: ranks {ranks[0]} and {ranks[1]}{where} are farthest apart; a message of "
        f"{format_size(first['bytes'])} takes {times(interval.median)} as long between them as "
        f"between the middle pair ({between(interval)}).",
        importance=weight(interval.median, 41, 66),
        kind="slowest-pair",
        label="Slowest pair",
        value=interval.median,
        low=interval.low,
        high=interval.high,
        mpi=first["mpi"],
        pattern=PATTERN,
        size_bytes=first["bytes"],
    )


def _ratios(frame: pl.DataFrame) -> list[float]:
    """Per launch, the time of the pair that is slowest in all other launches over the middle pair.

    Were it the slowest of the launch itself, the largest of many noisy values would be taken for a
    distance.
    """
    ratios = []
    for launch in frame["launch"].unique().sort():
        chosen = _slowest(frame.filter(pl.col("launch") != launch))
        here = frame.filter(launch=launch)
        times_s = here.filter(axes=chosen)["median_s"]
        if len(times_s):
            ratios.append(times_s[0] / here["median_s"].median())
    return ratios


def _slowest(frame: pl.DataFrame) -> str:
    """The axes of the pair with the largest median over launches."""
    middles = frame.group_by("axes").agg(pl.col("median_s").median()).sort("median_s", "axes")
    return str(middles["axes"][-1])
