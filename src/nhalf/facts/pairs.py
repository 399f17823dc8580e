"""Pairs of ranks: what sharing costs several at once, their distance, and the slowest pair."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import (
    COSTLY,
    FASTER,
    RelativeCost,
    beyond,
    each,
    middles,
    over_standard,
    with_intervals,
)
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.memory import LINE_BYTES
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.keys import RUN_CURVE, axis, without
from nhalf.store.places import Place

PATTERN = "distance"


def with_ranks(frame: pl.DataFrame) -> pl.DataFrame:
    """The points between two named ranks, with the integers `first` and `second`."""
    ends = [axis(name).cast(pl.Int64, strict=False).alias(name) for name in ("first", "second")]
    points = frame.filter((pl.col("pattern") == PATTERN) & (pl.col("median_s") > 0))
    return points.with_columns(ends).drop_nulls(["first", "second"])


def places_of(facts: Facts, row: dict[str, object]) -> list[Place]:
    """The place of every rank in the launches of a point; none if unknown."""
    mpi = str(row["mpi"] or "")
    start = (carrier(mpi, str(row["transport"])), row["ranks"], str(row["placement"]))
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
CURVE_SETTING = without(RUN_CURVE, "pattern", "axes")


@dataclass(frozen=True)
class SlowestPair(RelativeCost):
    """Two ranks, their relation ('' if unknown), and how far apart they are.

    `ratio` is their time for a message of `size_bytes` over that of the median pair.
    """

    ranks: tuple[int, int]
    relation: str


@fact
def slowest_pairs(facts: Facts) -> Iterator[SlowestPair]:
    """At most one for each library, number of ranks and placement."""
    launches = with_ranks(facts.launches)
    smallest = pl.col("bytes") == pl.col("bytes").min().over(CURVE_SETTING)
    for _, frame in launches.filter(smallest).group_by(CURVE_SETTING, maintain_order=True):
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
    near = relation(places[source], places[target]) if has_places else ""
    about = (with_series(frame.head(1), facts)["series"][0], first["mpi"], PATTERN, first["bytes"])
    return SlowestPair(*about, interval, (source, target), near)


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
    return str(list(middles(frame, "axes"))[-1])


LATENCY, BANDWIDTH = "pairs-latency", "pairs-bandwidth"


def with_pairs(frame: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """The points of one pattern, with the integer `pairs`, without those on other axes."""
    pairs = axis("pairs").cast(pl.Int64, strict=False).alias("pairs")
    points = frame.filter((pl.col("pattern") == pattern) & (pl.col("median_s") > 0))
    return points.filter(pl.col("axes").str.contains(r"^pairs=\d+$")).with_columns(pairs)


@fact
def load_ratios(facts: Facts) -> pl.DataFrame:
    """Per launch, the latency of several pairs over that of one.

    Columns of a launch, `pairs`, `standard_s`, `ratio` and `series`.
    """
    points = with_pairs(facts.launches, LATENCY)
    return with_series(over_standard(points, points.filter(pl.col("pairs") == 1)), facts)


def by_pairs(loads: pl.DataFrame) -> pl.DataFrame:
    """`load_ratios` over launches: per series, size and pairs, `ratio` with its interval.

    Adds `low`, `high`, `launches` and `time_s`, the median launch's time.
    """
    by = ["series", "bytes", "pairs"]
    times = loads.group_by(by).agg(time_s=pl.col("median_s").median())
    return with_intervals(loads, by).join(times, on=by)


@fact
def rates_of_pairs(facts: Facts) -> pl.DataFrame:
    """One row per point of several pairs that move data at once, if their number varies.

    Columns of `Facts.sound`, whose `rate_Bps` is that of all pairs, `pairs`, `each_Bps` and
    `series`.
    """
    points = with_pairs(facts.sound, BANDWIDTH)
    points = points.filter(pl.col("bytes") > 0, pl.col("rate_Bps").is_not_null())
    if points["pairs"].n_unique() < 2:
        points = points.clear()
    return with_series(points.with_columns(each_Bps=pl.col("rate_Bps") / pl.col("pairs")), facts)


SETTING = ("run", "ranks", "placement", "algorithm")


@dataclass(frozen=True)
class LoadCost(RelativeCost):
    """The cost of the most pairs at once: the smallest message's time over one pair's."""

    pairs: int


@fact
def costly_loads(facts: Facts) -> Iterator[list[LoadCost]]:
    """The affected libraries by setting, the worst first."""
    ratios = load_ratios(facts).filter(
        pl.col("bytes") == pl.col("bytes").min().over(*SETTING, "series"),
        pl.col("pairs") == pl.col("pairs").max().over(*SETTING, "series"),
        pl.col("pairs") > 1,
    )
    for _, frame in ratios.group_by(SETTING, maintain_order=True):
        pairs, size = frame.row(0, named=True)["pairs"], frame.row(0, named=True)["bytes"]
        costs = [
            LoadCost(**at, pattern=LATENCY, size_bytes=size, ratio=interval, pairs=pairs)
            for at, launches in each(frame, "series", "mpi")
            if (interval := beyond(launches.sort("launch")["ratio"].to_list(), COSTLY)) is not None
        ]
        if costs:
            yield sorted(costs, key=lambda cost: -cost.ratio.median)


@dataclass(frozen=True)
class Onset:
    """The number of pairs from which on a message takes longer than between one pair alone.

    `ratio` is the time with that many pairs over that of one, `at_most` with the `most` measured.
    """

    size_bytes: int
    alone: Interval
    pairs: int
    ratio: Interval
    most: int
    at_most: Interval


@fact
def load_onsets(facts: Facts) -> Iterator[tuple[str, str, list[Onset]]]:
    """The series, the library and the onset at every size up to a line, by size.

    What the finding about the most pairs says, that of the smallest message with no number of
    pairs between one and the most, is left out.
    """
    ratios = with_cores(load_ratios(facts), facts).filter(
        pl.col("bytes").is_between(1, LINE_BYTES), pl.col("pairs") > 1
    )
    by = [*SETTING, "series", "mpi"]
    for _, frame in ratios.group_by(by, maintain_order=True):
        smallest = frame["bytes"].min()
        onsets = [
            onset
            for (size,), of_size in frame.sort("bytes").group_by("bytes", maintain_order=True)
            if size != smallest or of_size["pairs"].n_unique() > 1
            if (onset := _onset(int(str(size)), of_size)) is not None
        ]
        if onsets:
            yield frame["series"][0], frame["mpi"][0], onsets


def _onset(size_bytes: int, frame: pl.DataFrame) -> Onset | None:
    """The onset at one size, None if the most pairs cost nothing.

    Numbers of pairs are tested from the most down, until one costs nothing: the chance of a false
    onset is that of a single test.
    """
    loaded: dict[int, Interval] = {}
    for pairs in frame["pairs"].unique().sort(descending=True):
        launches = frame.filter(pairs=pairs).sort("launch")
        ratio = beyond(launches["ratio"].to_list(), FASTER)
        if ratio is None:
            break
        loaded[pairs] = ratio
    if not loaded:
        return None
    alone = frame.unique("launch").sort("launch")["standard_s"].to_numpy()
    first, most = min(loaded), max(loaded)
    return Onset(size_bytes, launch_interval(alone), first, loaded[first], most, loaded[most])
