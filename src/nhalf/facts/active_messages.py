"""Active messages: their variants, and a comparison with MPI messages."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import reported_s, with_cores
from nhalf.facts.difference import COSTLY, FASTER, apart, each, over_standard, with_intervals
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import axis

SHORT, MEDIUM, LONG, FIRST = "am-short", "am-medium", "am-long", "am-first"
STORES, BULK = "stores", "bulk"
AXES = {SHORT: "polling", MEDIUM: "method", LONG: "copy", FIRST: "import"}
"""The axis of each pattern that selects the variant."""
STANDARD = {SHORT: "directed", MEDIUM: "two-transfers", LONG: STORES, FIRST: "start"}
"""The variant that serves as baseline."""
FALLBACK = {**STANDARD, LONG: "threshold"}
LINE_BYTES = 64
"""Smaller payloads travel in the cache line of their header in every variant."""


@fact
def way_ratios(facts: Facts) -> pl.DataFrame:
    """Per launch, the time of each variant over that of the standard one at the same size.

    Columns of a launch, `way`, `ratio` and `series`.
    """
    return with_series(pl.concat([_ratios_of(facts, pattern) for pattern in AXES]), facts)


@fact
def _ratios_of(facts: Facts, pattern: str) -> pl.DataFrame:
    points = facts.launches.filter(pl.col("pattern") == pattern, pl.col("median_s") > 0)
    if pattern == MEDIUM:
        points = points.filter(pl.col("bytes") >= LINE_BYTES)
    way = axis(AXES[pattern]).fill_null(FALLBACK[pattern])
    points = with_cores(points.filter(axis("words").is_null()), facts).with_columns(way=way)
    variants = points.filter(~pl.col("way").is_in([STANDARD[pattern], FALLBACK[pattern]]))
    return over_standard(variants, points.filter(way=STANDARD[pattern]))


@dataclass(frozen=True)
class WayCost:
    """The cost of a variant: its time over that of the standard one, the median over sizes."""

    series: str
    pattern: str
    way: str
    ratio: Interval


@fact
def costly_ways(facts: Facts) -> Iterator[WayCost]:
    """Variants significantly slower or faster than the standard; `bulk` has a crossover instead."""
    ratios = way_ratios(facts).filter(pl.col("way") != BULK)
    for place, frame in each(ratios, "series", "pattern", "way"):
        middles = frame.group_by("launch").agg(pl.col("ratio").median())["ratio"].to_list()
        if (ratio := apart(middles, COSTLY)) is not None:
            yield WayCost(**place, ratio=ratio)


@dataclass(frozen=True)
class BulkCrossover:
    """The crossover from stores to bulk copies: the largest size at which stores are significantly
    faster, and the smallest from which on bulk copies are; None if there is no such size.

    `ratio` is the bulk copy's time over that of stores at `size_bytes`: the smallest size at which
    bulk copies are faster or, without one, the largest at which stores are.
    """

    series: str
    stores_bytes: int | None
    bulk_bytes: int | None
    size_bytes: int
    ratio: Interval


@fact
def crossovers(facts: Facts) -> Iterator[BulkCrossover]:
    """One per series in which either is faster somewhere, with at most one crossover."""
    ratios = way_ratios(facts).filter(pattern=LONG, way=BULK)
    for place, frame in each(ratios, "series"):
        sizes = with_intervals(frame.sort("bytes"), ["bytes"]).filter(pl.col("launches") > 1)
        stores = sizes.filter(pl.col("low") > FASTER)["bytes"].to_list()
        bulk = sizes.filter(pl.col("high") < 1 / FASTER)["bytes"].to_list()
        if (not stores and not bulk) or (stores and bulk and max(stores) > min(bulk)):
            continue
        size_bytes = min(bulk) if bulk else max(stores)
        row = sizes.row(by_predicate=pl.col("bytes") == size_bytes, named=True)
        ratio = Interval(row["ratio"], row["low"], row["high"])
        ends = (max(stores, default=None), min(bulk, default=None))
        yield BulkCrossover(place["series"], *ends, size_bytes, ratio)


@dataclass(frozen=True)
class Rival:
    """The ratio of a library's smallest ping-pong to the short message."""

    mpi: str
    time_s: float
    ratio: Interval


@dataclass(frozen=True)
class ShortLead:
    """One variant of a short active message, and the libraries next to it, from fast to slow."""

    series: str
    time_s: float
    rivals: tuple[Rival, ...]


@fact
def short_leads(facts: Facts) -> Iterator[ShortLead]:
    """Short messages next to the ping-pongs of MPI libraries with the same ranks and placement."""
    launches = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    short = launches.filter(pattern=SHORT, axes="")
    smallest = pl.col("bytes") == pl.col("bytes").min().over("mpi")
    plain = launches.filter(pl.col("mpi") != "", transport="mpi", pattern=MAIN_PATTERN, axes="")
    keys = ["run", "ranks", "placement", "launch"]
    pairs = plain.filter(smallest).join(
        short.select(*keys, short_s="median_s", short="transport"), on=keys
    )
    for (name,), frame in pairs.group_by("short", maintain_order=True):
        rivals = [
            Rival(str(mpi), reported_s(of_one, int(of_one["bytes"][0])), ratio)
            for (mpi,), of_one in frame.group_by("mpi", maintain_order=True)
            if (ratio := apart((of_one["median_s"] / of_one["short_s"]).to_list(), FASTER))
            is not None
        ]
        if rivals:
            rivals.sort(key=lambda rival: rival.ratio.median)
            own = short.filter(transport=str(name))
            yield ShortLead(str(name), reported_s(own, int(own["bytes"][0])), tuple(rivals))
