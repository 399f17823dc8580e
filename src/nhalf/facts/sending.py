"""Ways to send between two ranks, compared with the standard in the same launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import CLASSES, with_cores
from nhalf.facts.difference import COSTLY, beyond
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
    keys = [*VARIED_POINT, "launch"]
    is_standard = pl.all_horizontal(pl.col(name) == value for name, value in standard.items())
    times = points.filter(is_standard).select(*keys, standard_s="median_s")
    ways = points.filter(~is_standard).join(times, on=keys, nulls_equal=True)
    ratios = ways.with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))
    return with_series(ratios, facts)


@dataclass(frozen=True)
class WayRatio:
    """A variant at the size where it differs most: its time over that of the standard.

    `way` maps axes to values.
    """

    series: str
    mpi: str
    pattern: str
    way: dict[str, str]
    size_bytes: int
    ratio: Interval


@fact
def slower_ways(facts: Facts, variants: Variants) -> Iterator[WayRatio]:
    """For each library the most expensive variant, if significant, at its worst size."""
    ratios = against_standard(facts, variants)
    standard = dict(variants.standard)
    for (series, mpi), frame in ratios.group_by("series", "mpi", maintain_order=True):
        ratios_by_way = [
            WayRatio(
                str(series),
                str(mpi),
                str(key[0]),
                dict(zip(standard, map(str, key[2:]), strict=True)),
                int(str(key[1])),
                interval,
            )
            for key, points in frame.group_by("pattern", "bytes", *standard, maintain_order=True)
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
    ratios = modes.join(
        standard.select(*PAIRED, standard_s="median_s"), on=PAIRED, nulls_equal=True
    ).with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))
    return with_series(ratios, facts)


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
    for (pattern,), frame in mode_ratios(facts).group_by("pattern", maintain_order=True):
        costs: list[ModeCost] = []
        for (series, mpi), of_series in frame.group_by("series", "mpi", maintain_order=True):
            worst = _worst_class(of_series)
            if worst is not None:
                costs.append(ModeCost(str(series), str(mpi), *worst))
        if costs:
            yield str(pattern), sorted(costs, key=lambda cost: -cost.ratio.median)


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
class Packed:
    """The size at which one way to send data with gaps costs most, as a ratio to another.

    `sure` of the `sizes` measured both ways cost significantly more than COSTLY.
    """

    series: str
    mpi: str
    layout: str
    size_bytes: int
    ratio: Interval
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
    for (series, mpi, layout), frame in paired.group_by(
        "series", "mpi", "layout", maintain_order=True
    ):
        costly_sizes = list(_costly(frame))
        if costly_sizes:
            size_bytes, ratio = max(costly_sizes, key=lambda size_ratio: size_ratio[1].median)
            sizes = frame["bytes"].n_unique()
            about = (str(series), str(mpi), str(layout), size_bytes)
            packed.append(Packed(*about, ratio, len(costly_sizes), sizes))
    return sorted(packed, key=lambda case: -case.ratio.median)


@fact
def _paired(facts: Facts, way: str, standard: str) -> pl.DataFrame:
    """Launches that were measured both ways, with `layout` and `ratio` = way / standard."""
    launches = facts.launches.filter(pl.col("pattern") == LAYOUT_PATTERN, pl.col("median_s") > 0)
    points = with_cores(launches, facts).with_columns(
        axis("layout"), axis("by"), axis("block").fill_null("")
    )
    keys = [*VARIED_POINT, "layout", "block", "launch"]
    standards = points.filter(pl.col("by") == standard).select(*keys, standard_s="median_s")
    paired = points.filter(pl.col("by") == way).join(standards, on=keys, nulls_equal=True)
    return paired.with_columns(ratio=pl.col("median_s") / pl.col("standard_s"))


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
    ratios = _ratios(facts)
    for (series, mpi), frame in ratios.group_by("series", "mpi", maintain_order=True):
        cost = _largest_class(str(series), str(mpi), frame, exact_runs(facts))
        if cost is not None and (cost.shared or cost.ratio.high < COSTLY):
            yield cost


@fact
def _ratios(facts: Facts) -> pl.DataFrame:
    """Per launch and size: columns of a launch, `series` and `ratio`."""
    launches = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    alone = launches.filter(pl.col("pattern") == MAIN_PATTERN)
    paired = launches.filter(pl.col("pattern") == PINGPING).join(
        alone.select(*PAIRED, alone_s="median_s"), on=PAIRED, nulls_equal=True
    )
    return with_series(paired.with_columns(ratio=pl.col("median_s") / pl.col("alone_s")), facts)


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
