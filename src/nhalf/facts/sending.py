"""Ways to send between two ranks, compared with the standard in the same launch."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import CLASSES, with_cores
from nhalf.facts.difference import COSTLY, RelativeCost, beyond, each, over_standard
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, with_series
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.store.keys import RUN_POINT, VARIED_POINT, axis, without


@dataclass(frozen=True)
class Variants:
    """Patterns, and the values of the axes that name their standard variant."""

    patterns: tuple[str, ...]
    standard: tuple[tuple[str, str], ...]


ACCESSES = (
    *("rma-put", "rma-get", "rma-accumulate", "rma-get-accumulate", "rma-fetch-and-op"),
    *("rma-compare-and-swap", "rma-put-all", "rma-get-all"),
)
WINDOWS = Variants(ACCESSES, (("access", "flush"), ("window", "allocate")))
"""Accesses to MPI windows."""
LAYOUTS = Variants(("pingpong-layout",), (("layout", "contiguous"), ("by", "type")))
"""Non-contiguous data."""
THREADS = Variants(
    ("pingpong-threads", "stream-threads"), (("threads", "1"), ("communicators", "one"))
)
"""Concurrent messages of several threads of each rank."""


@fact
def against_standard(facts: Facts, variants: Variants) -> pl.DataFrame:
    """Per launch, the time of each variant over that of the standard.

    Columns of a launch, one for each axis of the standard, `ratio` and `series`. Other axes are
    equal in both; of several combinations of those only the first is kept.
    """
    standard = dict(variants.standard)
    points = facts.launches.filter(
        pl.col("pattern").is_in(variants.patterns), pl.col("median_s") > 0
    )
    other_axes = (
        pl.col("axes")
        .str.split(",")
        .list.eval(pl.element().filter(~pl.element().str.contains(rf"^(?:{'|'.join(standard)})=")))
    )
    points = with_cores(points, facts).with_columns(
        *(axis(name).fill_null(value) for name, value in standard.items()),
        others=other_axes.list.join(","),
    )
    points = points.filter(pl.col("others") == pl.col("others").min().over("pattern"))
    is_standard = pl.all_horizontal(pl.col(name) == value for name, value in standard.items())
    ratios = over_standard(points.filter(~is_standard), points.filter(is_standard))
    return with_series(ratios, facts)


@dataclass(frozen=True)
class WayRatio(RelativeCost):
    """A variant at the size where it differs most: its time over that of the standard.

    `way` maps axes to values.
    """

    way: dict[str, str]


@fact
def slower_ways(facts: Facts, variants: Variants) -> Iterator[WayRatio]:
    """For each library the most expensive variant, if significant, at its worst size."""
    ratios = against_standard(facts, variants)
    standard = dict(variants.standard)
    for at, frame in each(ratios, "series", "mpi"):
        ratios_by_way = [
            WayRatio(
                at["series"],
                at["mpi"],
                place["pattern"],
                place["bytes"],
                interval,
                {name: place[name] for name in standard},
            )
            for place, points in each(frame, "pattern", "bytes", *standard)
            if points.height > 1
            and (interval := ratio_interval(points["ratio"].to_list())).low > COSTLY
        ]
        if ratios_by_way:
            yield max(ratios_by_way, key=lambda way_ratio: way_ratio.ratio.median)


PAIRED = (*without(RUN_POINT, "pattern"), "launch")
MODE_WORDS = {
    "ssend": "synchronous",
    "bsend": "buffered",
    "rsend": "ready",
    "diffbuf": "changing buffers",
}


def mode_name(pattern: str) -> str:
    """'pingpong-ssend' -> 'synchronous (ssend)'; unknown modes keep their own name."""
    suffix = pattern.removeprefix(f"{MAIN_PATTERN}-")
    return f"{MODE_WORDS[suffix]} ({suffix})" if suffix in MODE_WORDS else suffix


@fact
def mode_ratios(facts: Facts) -> pl.DataFrame:
    """Per launch, each mode's median over the standard send's.

    Columns of a launch, `standard_s`, `ratio` and `series`.
    """
    launches = facts.launches.filter(pl.col("median_s") > 0)
    standard = launches.filter(pl.col("pattern") == MAIN_PATTERN)
    modes = launches.filter(pl.col("pattern").str.starts_with(f"{MAIN_PATTERN}-"))
    return with_series(over_standard(modes, standard, PAIRED), facts)


@dataclass(frozen=True)
class ModeCost:
    """The cost of a mode: its time over the standard send's, in the worst size class."""

    series: str
    mpi: str
    size_class: str
    ratio: Interval


@fact
def costly_modes(facts: Facts) -> Iterator[tuple[str, list[ModeCost]]]:
    """Each mode's pattern that costs some libraries time, with those, the worst first."""
    for mode, frame in each(mode_ratios(facts), "pattern"):
        costs: list[ModeCost] = []
        for at, of_series in each(frame, "series", "mpi"):
            worst = _worst_class(of_series)
            if worst is not None:
                costs.append(ModeCost(**at, size_class=worst[0], ratio=worst[1]))
        if costs:
            yield mode["pattern"], sorted(costs, key=lambda cost: -cost.ratio.median)


def _worst_class(frame: pl.DataFrame) -> tuple[str, Interval] | None:
    """The size class in which a mode costs most, if significant."""
    costs: list[tuple[str, Interval]] = []
    for name, low, high in CLASSES:
        middles = (
            frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("launch")
            .agg(pl.col("ratio").median())
        )
        interval = beyond(middles["ratio"].to_list(), COSTLY)
        if interval is not None:
            costs.append((name, interval))
    return max(costs, key=lambda item: item[1].median) if costs else None


LAYOUT_PATTERN = "pingpong-layout"


@dataclass(frozen=True)
class Packed(RelativeCost):
    """The size at which one way to send data with gaps costs most, as a ratio to another.

    `sure` of the `sizes` measured both ways cost significantly more than COSTLY.
    """

    layout: str
    sure: int
    sizes: int


@fact
def packed_sooner(facts: Facts, way: str = "type", standard: str = "hand") -> list[Packed]:
    """Libraries and layouts for which the standard way (axis `by`) is faster, the worst first."""
    packed: list[Packed] = []
    paired = _paired(facts, way, standard)
    if paired.is_empty():
        return packed
    paired = with_series(paired, facts)
    for at, frame in each(paired, "series", "mpi", "layout"):
        costly_sizes = list(_costly(frame))
        if costly_sizes:
            size_bytes, ratio = max(costly_sizes, key=lambda size_ratio: size_ratio[1].median)
            sizes = frame["bytes"].n_unique()
            about = (at["series"], at["mpi"], LAYOUT_PATTERN, size_bytes, ratio)
            packed.append(Packed(*about, at["layout"], len(costly_sizes), sizes))
    return sorted(packed, key=lambda case: -case.ratio.median)


@fact
def _paired(facts: Facts, way: str, standard: str) -> pl.DataFrame:
    """Launches that were measured both ways, with `layout` and `ratio` = way / standard."""
    launches = facts.launches.filter(pl.col("pattern") == LAYOUT_PATTERN, pl.col("median_s") > 0)
    points = with_cores(launches, facts).with_columns(
        axis("layout"), axis("by"), axis("block").fill_null("")
    )
    keys = [*VARIED_POINT, "layout", "block", "launch"]
    ways, standards = (points.filter(pl.col("by") == name) for name in (way, standard))
    return over_standard(ways, standards, keys)


def _costly(frame: pl.DataFrame) -> Iterator[tuple[int, Interval]]:
    """The sizes at which the type costs significantly more."""
    for (size_bytes,), points in frame.group_by("bytes", maintain_order=True):
        interval = ratio_interval(points["ratio"].to_list())
        if points.height > 1 and interval.low > COSTLY:
            yield int(str(size_bytes)), interval


PINGPING = "pingping"


@dataclass(frozen=True)
class BothWays:
    """The time of ping-ping over that of ping-pong, over the sizes of the largest class measured.

    1: the two directions are independent; 2: they share the same resource.
    """

    series: str
    mpi: str
    size_class: str
    first_bytes: int
    last_bytes: int
    ratio: Interval

    @property
    def shared(self) -> bool:
        """Whether a message in the opposite direction costs time significantly."""
        return self.ratio.low > COSTLY


@fact
def both_ways(facts: Facts) -> Iterator[BothWays]:
    """One for each library and setting for which sharing can be determined."""
    launches = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    pings, pongs = (launches.filter(pattern=pattern) for pattern in (PINGPING, MAIN_PATTERN))
    ratios = with_series(over_standard(pings, pongs, PAIRED), facts)
    for at, frame in each(ratios, "series", "mpi"):
        cost = _largest_class(at["series"], at["mpi"], frame, exact_runs(facts))
        if cost is not None and (cost.shared or cost.ratio.high < COSTLY):
            yield cost


def _largest_class(
    series: str, mpi: str, frame: pl.DataFrame, exact: frozenset[str]
) -> BothWays | None:
    for name, low, high in reversed(CLASSES):
        inside = frame.filter(pl.col("bytes").is_between(low, high))
        middles = inside.group_by("launch").agg(pl.col("ratio").median()).sort("launch")["ratio"]
        is_exact = not inside.is_empty() and inside["run"][0] in exact
        if len(middles) >= (1 if is_exact else 2):
            sizes = sorted(inside["bytes"].to_list())
            ratio = ratio_interval(middles.to_list())
            return BothWays(series, mpi, name, sizes[0], sizes[-1], ratio)
    return None


QUEUES, FIRST_MESSAGES = "drain", "first-message"


@dataclass(frozen=True)
class CostOfOrder(RelativeCost):
    """A way over its standard, at the value of an axis (`at`) where it was measured last.

    Of a queue `at` is its depth, of first messages the rank that they go to; `queue` is '' there.
    """

    queue: str
    at: int
    standard_s: float
    time_s: float

    @property
    def passed_s(self) -> float:
        """Seconds for each message, or receive, that is passed: in reverse order half of them."""
        return 2 * (self.time_s - self.standard_s) / max(1, self.at - 1)


@fact
def searched_queues(facts: Facts) -> Iterator[CostOfOrder]:
    """Queues, at their greatest depth, in which reverse order costs more than that of arrival."""
    yield from _costs(facts, QUEUES, ("order", "reverse", "in-order"), "depth")


@fact
def first_messages(facts: Facts) -> Iterator[CostOfOrder]:
    """Libraries whose first message to a rank costs more than the second, at the last rank."""
    yield from _costs(facts, FIRST_MESSAGES, ("message", "first", "second"), "partner")


def _costs(
    facts: Facts, pattern: str, ways: tuple[str, str, str], place: str
) -> Iterator[CostOfOrder]:
    """By series, queue and size, one way of an axis over another, where it costs significantly."""
    name, dear, standard = ways
    points = facts.launches.filter(pl.col("pattern") == pattern, pl.col("median_s") > 0)
    if points.is_empty():
        return
    points = with_series(points, facts).with_columns(
        axis(name), axis("queue").fill_null(""), at=axis(place).cast(pl.Int64)
    )
    keys = [*VARIED_POINT, "queue", "at", "launch"]
    dear_points, standards = (points.filter(pl.col(name) == way) for way in (dear, standard))
    costs = over_standard(dear_points, standards, keys)
    for about, frame in each(costs, "series", "mpi", "queue", "bytes", "run"):
        last = frame.filter(pl.col("at") == pl.col("at").max())
        is_exact = about["run"] in exact_runs(facts)
        ratio = beyond(last["ratio"].to_list(), COSTLY, is_exact=is_exact)
        if ratio is not None:
            times = last.select(pl.col("at", "standard_s", "median_s").median()).row(0)
            cost = (about["series"], about["mpi"], pattern, about["bytes"], ratio)
            yield CostOfOrder(*cost, about["queue"], int(times[0]), *times[1:])
