"""STREAM in ordinary and in shared arrays, the life of shared segments, and small puts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import (
    COSTLY,
    RelativeCost,
    beyond,
    chosen_ratios,
    each,
    middles,
    over_standard,
)
from nhalf.facts.extent import node_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
from nhalf.store.keys import RUN_CURVE, VARIED_POINT, axis, value, without

LINE_BYTES = 64
"""A cache line, and the least that an adapter such as Sun Fire Link writes at once."""
PUTS = (
    *("put", "put-stream", "put-pingpong", "put-signal", "put-watched"),
    *("mapped-pingpong", "rma-put", "rma-put-all"),
)


@dataclass(frozen=True)
class PartialLine(RelativeCost):
    """The size below a line that costs most, and its time over that of a whole line."""

    axes: str
    partial: Interval
    line: Interval


@fact
def partial_lines(facts: Facts) -> list[PartialLine]:
    """Curves of puts where less than a line is dearer than a whole one, the worst first."""
    puts = facts.launches.filter(
        pl.col("pattern").is_in(PUTS),
        pl.col("bytes").is_between(1, LINE_BYTES),
        pl.col("median_s") > 0,
    )
    return sorted(_dearer(with_series(puts, facts)), key=lambda case: -case.ratio.median)


def _dearer(puts: pl.DataFrame) -> Iterator[PartialLine]:
    for _, frame in puts.group_by(RUN_CURVE, maintain_order=True):
        partial = middles(frame.filter(pl.col("bytes") < LINE_BYTES), "bytes")
        if not partial:
            continue
        ratio = beyond(chosen_ratios(frame, "bytes", _ends), COSTLY)
        if ratio is None:
            continue
        size_bytes = list(partial)[-1]
        subject = frame.row(0, named=True)
        times = (_time(frame, size_bytes), _time(frame, LINE_BYTES))
        about = (subject["series"], subject["mpi"], subject["pattern"], size_bytes, ratio)
        yield PartialLine(*about, subject["axes"], *times)


def _ends(times_s: Mapping[int, float]) -> tuple[int, int]:
    """The size below a line that takes longest, and the line."""
    below = [size for size in times_s if size < LINE_BYTES]
    return (below[-1] if below else LINE_BYTES), LINE_BYTES


def _time(frame: pl.DataFrame, size_bytes: int) -> Interval:
    return launch_interval(frame.filter(bytes=size_bytes)["median_s"].to_numpy())


KERNELS = ("triad", "add", "scale", "copy")
ORDINARY, OPENMP, CAST = "ordinary", "openmp", "cast"
WAYS = (ORDINARY, OPENMP, CAST, "block", "pointer", "for-all")
"""Ordinary arrays with one and with several threads per rank; shared ones by `access`."""
EVEN = "even"
PATTERNS = tuple(f"{room}-{kernel}" for room in ("memory", "array") for kernel in KERNELS)
KERNEL_PATTERN = rf"^(?:memory|array)-({'|'.join(KERNELS)})$"


def with_ways(frame: pl.DataFrame) -> pl.DataFrame:
    """The points of PATTERNS, with `kernel`, `way` (of WAYS) and `block`, its text."""
    threads = axis("threads").is_not_null()
    points = frame.filter(pl.col("pattern").is_in(PATTERNS), pl.col("median_s") > 0)
    shared = pl.col("pattern").str.starts_with("array-")
    return points.with_columns(
        kernel=pl.col("pattern").str.extract(KERNEL_PATTERN, 1),
        way=pl.when(shared)
        .then(axis("access"))
        .when(threads)
        .then(pl.lit(OPENMP))
        .otherwise(pl.lit(ORDINARY)),
        block=axis("block").fill_null(EVEN),
    )


@fact
def rates(facts: Facts) -> pl.DataFrame:
    """One row per point of the largest arrays of each kernel: `Facts.sound`, and `with_ways`.

    `cores` work on them: the ranks with their threads. `series` does not distinguish these, nor
    placements: OpenMP threads need a different one from ranks. Runs of a single node report rates
    by level instead.
    """
    apart = pl.col("run").is_in(list(node_runs(facts)))
    points = with_ways(facts.sound).filter(pl.col("rate_Bps").is_not_null(), ~apart)
    threads = value("threads").fill_null(1).cast(pl.Int64)
    points = points.with_columns(cores=pl.col("ranks") * threads)
    largest = pl.col("bytes") == pl.col("bytes").max().over("kernel")
    return with_series(points.filter(largest), facts, on_axis=("ranks", "placement"))


@dataclass(frozen=True)
class AccessCost(RelativeCost):
    """The cost of an access to elements: its time over that of ordinary arrays.

    `cast` is the same for ordinary pointers to a rank's own elements, if measured.
    """

    kernel: str
    way: str
    block: str
    cast: Interval | None


@fact
def costly_accesses(facts: Facts) -> Iterator[AccessCost]:
    """The most expensive access of each series, if significant, in its largest arrays."""
    ratios = _ratios(facts)
    for _, frame in each(ratios, "series"):
        costs: list[AccessCost] = []
        accesses = frame.filter(pl.col("way") != CAST)
        for at, points in each(accesses, "series", "kernel", "way", "block", "bytes", "mpi"):
            ratio = beyond(points["ratio"].to_list(), COSTLY)
            if ratio is None:
                continue
            casts = frame.filter(way=CAST, kernel=at["kernel"], bytes=at["bytes"])
            # Blocks do not matter to casts.
            same_block = casts.filter(block=at["block"])
            cast = same_block if same_block.height > 1 else casts.filter(block=EVEN)
            cast_ratio = ratio_interval(cast["ratio"].to_list()) if cast.height > 1 else None
            about = (at["series"], at["mpi"], f"array-{at['kernel']}", at["bytes"], ratio)
            costs.append(AccessCost(*about, at["kernel"], at["way"], at["block"], cast_ratio))
        if costs:
            yield max(costs, key=lambda cost: cost.ratio.median)


@fact
def _ratios(facts: Facts) -> pl.DataFrame:
    """Per launch of a point of shared arrays, `ratio`: its time over that of ordinary ones."""
    points = with_ways(facts.launches)
    keys = [*without(VARIED_POINT, "pattern"), "kernel", "launch"]
    shared = points.filter(~pl.col("way").is_in([ORDINARY, OPENMP]))
    ratios = over_standard(shared, points.filter(way=ORDINARY), keys)
    largest = pl.col("bytes") == pl.col("bytes").max().over("kernel")
    return with_series(ratios.filter(largest), facts)


@dataclass(frozen=True)
class Scaling(RelativeCost):
    """Rate of the largest number of ranks over that of one, through casts and in ordinary arrays.

    `ordinary` is None if those were not measured.
    """

    kernel: str
    ranks: int
    ordinary: Interval | None


@fact
def cast_scaling(facts: Facts) -> Iterator[Scaling]:
    """By series, for the first of KERNELS that was measured on one rank and on more."""
    ratios = _growth(facts)
    for at, frame in each(ratios, "series"):
        for kernel in KERNELS:
            casts = frame.filter(kernel=kernel, way=CAST)
            if casts.height < 2:
                continue
            ordinary = frame.filter(kernel=kernel, way=ORDINARY)["ratio"].to_list()
            about = (at["series"], casts["mpi"][0], f"array-{kernel}", casts["bytes"][0])
            beside = ratio_interval(ordinary) if len(ordinary) > 1 else None
            ratio = ratio_interval(casts["ratio"].to_list())
            yield Scaling(*about, ratio, kernel, casts["ranks"][0], beside)
            break


@fact
def _growth(facts: Facts) -> pl.DataFrame:
    """Per launch, for the largest arrays on most ranks, `ratio`: the rate over that of one rank."""
    points = with_ways(facts.launches).filter(pl.col("way").is_in([CAST, ORDINARY]), block=EVEN)
    points = points.filter(pl.col("bytes") == pl.col("bytes").max().over("kernel"))
    keys = [*without(VARIED_POINT, "ranks"), "way", "launch"]
    many_ranks = points.filter(
        (pl.col("ranks") > 1) & (pl.col("ranks") == pl.col("ranks").max().over("kernel", "way"))
    )
    ratios = over_standard(many_ranks, points.filter(ranks=1), keys)
    ratio = pl.col("standard_s") / pl.col("median_s")
    return with_series(ratios.with_columns(ratio=ratio), facts, on_axis=("ranks", "placement"))


SEGMENT_PATTERN = "primitive"
STEPS = {
    **dict.fromkeys(("create", "register", "publish", "connect", "map"), "setup"),
    **dict.fromkeys(("put", "get", "fence", "signal"), "transfer"),
    **dict.fromkeys(("disconnect", "unmap", "destroy"), "teardown"),
}
"""The part of a segment's life to which each step belongs, in the order of both."""
SEGMENT_PARTS = tuple(dict.fromkeys(STEPS.values()))


@fact
def step_times(facts: Facts) -> pl.DataFrame:
    """One row per series, segment size and step, in chronological order.

    `time_s` is the median over launches, at least 0, with `ci_low_s` and `ci_high_s`; `share` is
    its share of the total; `part` is one of SEGMENT_PARTS, `place` the position of the step.
    """
    places = {step: place for place, step in enumerate(STEPS)}
    points = facts.summary.filter(pl.col("pattern") == SEGMENT_PATTERN).with_columns(axis("step"))
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
