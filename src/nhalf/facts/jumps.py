"""Jumps of a curve between two sizes, and what may be behind them: eager limits and caches."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.units import parse_size
from nhalf.facts.difference import COSTLY
from nhalf.facts.reported import REPORTED, value_in_launch
from nhalf.machines.machine import FittedModel, Segment
from nhalf.measure.plan.plan import split_name
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval

NEAR = 1.15
"""A limit may count the header of a message, which the sizes of messages do not."""
PREFIXES = {"OMPI_MCA_": "openmpi", "MPIR_CVAR_": "mpich", "MPICH_": "mpich", "I_MPI_": "intel",
            "UCX_": ""}  # fmt: skip
"""Beginnings of variables, and of the names of the libraries that read them ('' all)."""
SHARED_MEMORY = frozenset({"sm", "vader", "smcuda"})
"""Components of Open MPI for messages within a host."""
WORDS = ("EAGER_LIMIT", "EAGER_MAX", "EAGER_THRESHOLD", "RNDV_THRESH")


@dataclass(frozen=True)
class EagerLimit:
    """A parameter of a library and its value; a longer message waits for its receiver."""

    parameter: str
    size_bytes: int
    is_reported: bool = False
    """Whether the library said so in the launch itself (MPI_T)."""

    def is_between(self, before_bytes: int, after_bytes: int) -> bool:
        """Whether times that change between two sizes may change because of it."""
        return before_bytes <= self.size_bytes * NEAR and self.size_bytes < after_bytes * NEAR


def eager_limits_of(environment: Mapping[str, Any], mpi: str) -> tuple[EagerLimit, ...]:
    """The limits of a library in the environment of a run; variables override the library's own.

    What the library reported of them in its launches (reported.py) overrides both.
    """
    recorded = environment.get("eager_limits")
    by_library = recorded if isinstance(recorded, Mapping) else {}
    reported = environment.get(REPORTED, {}).get(mpi, {})
    knows_itself = mpi in by_library or not reported
    of_library = by_library.get(mpi if knows_itself else split_name(mpi)[0], {})
    limits = {name: int(size) for name, size in of_library.items()}
    for name, size_bytes in _variables(environment, mpi):
        limits = {own: size for own, size in limits.items() if not name.endswith(own)}
        limits[name] = size_bytes
    texts = {name: value_in_launch(name, reported) or "" for name in limits}
    in_launch = {name: int(text) for name, text in texts.items() if text.isdecimal()}
    return tuple(
        EagerLimit(name, in_launch.get(name, size), is_reported=name in in_launch)
        for name, size in limits.items()
    )


def limits_in_use(
    environment: Mapping[str, Any], mpi: str, placement: str
) -> tuple[EagerLimit, ...]:
    """The limits of the components that carry a curve's messages, as far as that is known.

    Within a host those of shared memory, unless OMPI_MCA_btl leaves it out; between hosts those of
    the network.
    """
    limits = eager_limits_of(environment, mpi)
    site = environment.get("site")
    hosts = site.get("hosts") if isinstance(site, Mapping) else None
    is_one_host = placement.startswith("same-") or (hosts is not None and len(hosts) < 2)
    if hosts is None and not is_one_host:
        return limits
    is_in_memory = is_one_host and not _leaves_out_memory(environment)
    return tuple(
        limit
        for limit in limits
        if (component := _component(limit)) is None or (component in SHARED_MEMORY) is is_in_memory
    )


def _leaves_out_memory(environment: Mapping[str, Any]) -> bool:
    """Whether Open MPI was told to carry all messages over the network."""
    variables = environment.get("variables")
    text = str(variables.get("OMPI_MCA_btl", "")) if isinstance(variables, Mapping) else ""
    names = {name.strip() for name in text.removeprefix("^").split(",")} - {"", "self"}
    return bool(names) and bool(names & SHARED_MEMORY) is text.startswith("^")


def _component(limit: EagerLimit) -> str | None:
    """The component of Open MPI that has a limit; None of other libraries."""
    match = re.search(r"btl_([a-z0-9]+)_", limit.parameter)
    return match[1] if match else None


def _variables(environment: Mapping[str, Any], mpi: str) -> Iterator[tuple[str, int]]:
    variables = environment.get("variables")
    for name, text in (variables if isinstance(variables, Mapping) else {}).items():
        prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), None)
        is_read = prefix is not None and mpi.startswith(PREFIXES[prefix])
        if is_read and any(word in name.upper() for word in WORDS):
            try:
                yield name, parse_size(str(text))
            except InputError:
                continue


FALL_LEAST = 1.2
"""Smaller falls of the rate, as a ratio, are not worth a word."""
SAME_RATE = 1.05
"""Rates within this factor of the peak, or of the lowest rate after it, count as equal to it."""
STEP_MOST = 0.6
"""A protocol changes at one size. A fall of which no step between neighbouring sizes has more than
this share, on a logarithmic scale, is gradual: a cache's."""


@dataclass(frozen=True)
class RateFall:
    """The last size at about the peak rate and the first at about the lowest rate beyond it.

    `largest_step_ratio` is the largest ratio of rates on the way, between neighbouring sizes.
    """

    from_bytes: int
    to_bytes: int
    from_Bps: float
    to_Bps: float
    largest_step_ratio: float

    @property
    def is_gradual(self) -> bool:
        """Whether it takes a range of sizes, and not one size."""
        fall = math.log(self.from_Bps / self.to_Bps)
        return math.log(self.largest_step_ratio) <= STEP_MOST * fall

    def holds(self, low_bytes: float, high_bytes: float) -> bool:
        """Whether a change of the curve between two sizes is a part of the fall."""
        return low_bytes >= self.from_bytes and high_bytes <= self.to_bytes


def rate_fall(model: FittedModel) -> RateFall | None:
    """The fall of a fitted curve from its highest rate to the lowest at larger sizes; None if the
    rate falls by less than FALL_LEAST.
    """
    rates = [
        (size, size / segment.time_s(size))
        for segment in model.segments
        for size in dict.fromkeys((segment.from_bytes, segment.to_bytes))
        if size > 0
    ]
    if not rates:
        return None
    peak_Bps = max(rate for _, rate in rates)
    start = max(place for place, (_, rate) in enumerate(rates) if rate * SAME_RATE >= peak_Bps)
    beyond = rates[start + 1 :]
    lowest_Bps = min((rate for _, rate in beyond), default=peak_Bps)
    if lowest_Bps * FALL_LEAST > peak_Bps:
        return None
    length = next(n for n, (_, rate) in enumerate(beyond) if rate <= lowest_Bps * SAME_RATE)
    way = rates[start : start + length + 2]
    largest_step_ratio = max(before / after for (_, before), (_, after) in itertools.pairwise(way))
    (from_bytes, from_Bps), (to_bytes, to_Bps) = way[0], way[-1]
    return RateFall(from_bytes, to_bytes, from_Bps, to_Bps, largest_step_ratio)


SIZES_MIN = 3
SIZES_BESIDE = 3
"""Sizes on each side of a jump that determine a launch's level there."""
LAUNCHES_MIN = 3
"""Two launches that agree by chance prove no jump."""
LAUNCHES_MIXED_MIN = 5
"""Launches in several states have to be more, because each state may have another jump."""
COHERENT = 1.25
"""A jump from several sizes that deviates by more than this from that of the two adjacent sizes is
rejected: those two are what a reader sees."""


@dataclass(frozen=True)
class Jump:
    """The reported values at the sizes next to a jump, and the jump itself (1: none)."""

    before_bytes: int
    after_bytes: int
    before_s: float
    after_s: float
    ratio: Interval

    @property
    def costs(self) -> bool:
        """Whether it costs time; otherwise it saves some."""
        return self.ratio.median > 1

    @property
    def at_least(self) -> float:
        """The end of its interval that is closer to no jump."""
        return self.ratio.low if self.costs else self.ratio.high

    @property
    def is_between_its_sizes(self) -> bool:
        """Whether most of it lies between the two sizes, and not at others beside them."""
        return abs(math.log(self.after_s / self.before_s)) >= abs(math.log(self.ratio.median)) / 2

    @property
    def expected_s(self) -> float:
        """The expected time of the size after it without the jump."""
        return self.after_s / self.ratio.median


def jump_between(
    launches: pl.DataFrame, by_state: pl.DataFrame, lower: Segment, upper: Segment
) -> Jump | None:
    """The jump between two segments of a curve of launch medians, if it lies beyond COSTLY.

    `launches` has the columns launch, bytes and median_s (positive) of the reported state, whose
    times are shown; `by_state` those of all states, each of a launch as one of its own: a jump is a
    ratio of times in equal states, and these count where the reported state has too few.
    """
    before, after = lower.to_bytes, upper.from_bytes
    costs, saves = jump_ratios(launches, by_state, lower, upper)
    before_s, after_s = _reported_s(launches, before), _reported_s(launches, after)
    if costs is not None and costs.low > COSTLY:
        return Jump(before, after, before_s, after_s, costs)
    if saves is not None and saves.high < 1 / COSTLY:
        return Jump(before, after, before_s, after_s, saves)
    return None


def jump_ratios(
    launches: pl.DataFrame,
    by_state: pl.DataFrame,
    lower: Segment,
    upper: Segment,
    confidence: float = 0.95,
) -> tuple[Interval | None, Interval | None]:
    """The jump over the longest expected time, and over the shortest; None with few launches."""
    longest, shortest = _growths(launches, lower, upper.from_bytes)
    frames = (launches, by_state)
    costs = _ratio(*frames, lower, upper, longest, confidence)
    return costs, _ratio(*frames, lower, upper, shortest, confidence)


def _growths(launches: pl.DataFrame, segment: Segment, after: int) -> tuple[float, float]:
    """Bounds of the expected time of the next size, relative to a segment's last size: max, min."""
    before = segment.to_bytes
    # What an empty message takes says nothing of the time per byte.
    most = after / before if before else 1.0
    if _sizes(launches, segment).len() < SIZES_MIN:
        return most, 1.0
    growth = min(max(segment.time_s(after) / segment.time_s(before), 1.0), most)
    return growth, growth


def _ratio(
    launches: pl.DataFrame,
    by_state: pl.DataFrame,
    lower: Segment,
    upper: Segment,
    growth: float,
    confidence: float,
) -> Interval | None:
    """The jump with its interval; from several sizes if they agree with the adjacent ones."""
    adjacent = over_sizes = None
    for frame, launches_min in ((launches, LAUNCHES_MIN), (by_state, LAUNCHES_MIXED_MIN)):
        if adjacent is None and over_sizes is None:
            adjacent, over_sizes = (
                ratio_interval(ratios, confidence) if len(ratios) >= launches_min else None
                for ratios in (
                    _beside(frame, lower.to_bytes, upper.from_bytes, growth),
                    _over_sizes(frame, lower, upper, growth),
                )
            )
    if over_sizes is None:
        return adjacent
    before_s = _reported_s(launches, lower.to_bytes)
    observed = _reported_s(launches, upper.from_bytes) / before_s / growth
    return over_sizes if 1 / COHERENT < over_sizes.median / observed < COHERENT else adjacent


def _beside(launches: pl.DataFrame, before: int, after: int, growth: float) -> list[float]:
    """Per launch, the jump from the two adjacent sizes alone."""
    before_launches = launches.filter(bytes=before).select("launch", before_s="median_s")
    paired = launches.filter(bytes=after).join(before_launches, on="launch").sort("launch")
    return (paired["median_s"] / paired["before_s"] / growth).to_list()


def _over_sizes(
    launches: pl.DataFrame, lower: Segment, upper: Segment, growth: float
) -> list[float]:
    """Per launch, the jump from the nearest sizes on both sides, which is robust to one outlier.

    The segments give the shape, the median over sizes a launch's deviation from them. Empty if a
    side has too few sizes for a shape.
    """
    sides = []
    for segment, nearest_last in ((lower, True), (upper, False)):
        sizes = _sizes(launches, segment).sort(descending=nearest_last)
        if sizes.len() < SIZES_MIN:
            return []
        modelled = segment.t0_s + pl.col("bytes") / segment.r_inf_Bps
        chosen = launches.filter(pl.col("bytes").is_in(sizes.head(SIZES_BESIDE).to_list()))
        level = (pl.col("median_s") / modelled).median().alias("level")
        sides.append(chosen.group_by("launch").agg(level))
    expected_s = lower.time_s(lower.to_bytes) * growth
    pairs = sides[0].join(sides[1], on="launch", suffix="_right").sort("launch")
    jump = upper.time_s(upper.from_bytes) / expected_s
    return (pairs["level_right"] / pairs["level"] * jump).to_list()


def _sizes(launches: pl.DataFrame, segment: Segment) -> pl.Series:
    """The sizes of a segment that were measured."""
    inside = pl.col("bytes").is_between(segment.from_bytes, segment.to_bytes)
    return launches.filter(inside)["bytes"].unique()


def _reported_s(launches: pl.DataFrame, size: int) -> float:
    times_s: Sequence[float] = launches.filter(bytes=size)["median_s"].to_list()
    return launch_interval(times_s).median
