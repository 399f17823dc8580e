"""Messages between two named ranks: their distance, and the slowest pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval
from nhalf.store.axes import axis
from nhalf.store.keys import RUN_CURVE, without
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


LAUNCHES_MIN = 3
PAIRS_MIN = 3
SETTING = without(RUN_CURVE, "pattern", "axes")


@dataclass(frozen=True)
class SlowestPair:
    """Two ranks, their relation ('' if unknown), and how far apart they are.

    `ratio` is their time for a message of `size_bytes` over that of the median pair.
    """

    series: str
    mpi: str
    ranks: tuple[int, int]
    relation: str
    size_bytes: int
    ratio: Interval


@fact
def slowest_pairs(facts: Facts) -> Iterator[SlowestPair]:
    """At most one for each library, number of ranks and placement."""
    launches = with_ranks(facts.launches)
    smallest = pl.col("bytes") == pl.col("bytes").min().over(SETTING)
    for _, frame in launches.filter(smallest).group_by(SETTING, maintain_order=True):
        if frame["launch"].n_unique() < LAUNCHES_MIN or frame["axes"].n_unique() < PAIRS_MIN:
            continue
        interval = beyond(_ratios(frame), COSTLY)
        if interval is not None:
            yield _pair(frame, interval, facts)


def _pair(frame: pl.DataFrame, interval: Interval, facts: Facts) -> SlowestPair:
    first = frame.filter(axes=_slowest(frame)).row(0, named=True)
    source, target = first["first"], first["second"]
    places = places_of(facts, first)
    has_places = max(source, target) < len(places)
    return SlowestPair(
        with_series(frame.head(1), facts)["series"][0],
        first["mpi"],
        (source, target),
        relation(places[source], places[target]) if has_places else "",
        first["bytes"],
        interval,
    )


def _ratios(frame: pl.DataFrame) -> list[float]:
    """Per launch, the time of the pair that is slowest in all other launches over the median pair.

    Taking the slowest of the launch itself would mistake the largest of many noisy values for a
    distance.
    """
    ratios = []
    for launch in frame["launch"].unique().sort():
        chosen = _slowest(frame.filter(pl.col("launch") != launch))
        this_launch = frame.filter(launch=launch)
        times_s = this_launch.filter(axes=chosen)["median_s"]
        if len(times_s):
            ratios.append(times_s[0] / this_launch["median_s"].median())
    return ratios


def _slowest(frame: pl.DataFrame) -> str:
    """The axes of the pair with the largest median over launches."""
    middles = frame.group_by("axes").agg(pl.col("median_s").median()).sort("median_s", "axes")
    return str(middles["axes"][-1])
