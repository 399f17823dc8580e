"""Findings on memory: shared arrays, cache lines and segments."""

from collections.abc import Iterator

import polars as pl

from nhalf.base.numbers import percent, times
from nhalf.base.units import format_size, format_time
from nhalf.facts import memory
from nhalf.facts.difference import COSTLY
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, way_name


class ArrayAccess(Finder[Facts]):
    """The cost of each way to access shared arrays, compared with casts to ordinary pointers."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_array_access_finding, memory.costly_accesses(facts))


def _array_access_finding(cost: memory.AccessCost) -> Finding:
    ratio, cast = cost.ratio, cost.cast
    casts = f"; casts take {times(cast.median)} ({between(cast)})" if cast else ""
    better = cast is not None and cast.high < ratio.low
    near = cast is not None and cast.high < COSTLY
    remedy = "Cast to ordinary pointers where a loop stays with its rank's elements."
    text = (
        f"Shared arrays, {way_name(cost.way, cost.block)}: {cost.kernel} of "
        f"{format_size(cost.size_bytes)} takes {times(ratio.median)} the time of ordinary arrays "
        f"on {cost.series} ({between(ratio)}){casts}" + (": as fast." if near else ".")
    )
    return Finding.of(
        cost, text, (40, 60), "array-access", "Global arrays", remedy=remedy if better else ""
    )


NEAR_LINEAR = 0.9
"""The share of a rate proportional to the ranks that counts as near-linear."""


class ArrayScaling(Finder[Facts]):
    """How the rate of shared arrays accessed through casts scales with cores."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_array_scaling_finding, memory.cast_scaling(facts))


def _array_scaling_finding(scaling: memory.Scaling) -> Finding:
    cast, ordinary = scaling.ratio, scaling.ordinary
    beside = f", ordinary arrays {times(ordinary.median)}" if ordinary else ""
    linear = "near-linear" if cast.low >= NEAR_LINEAR * scaling.ranks else "less than linear"
    if ordinary and cast.low < NEAR_LINEAR * scaling.ranks and cast.high >= ordinary.low:
        linear += ", as memory itself allows"
    text = (
        f"Shared arrays through casts: {scaling.kernel} of {format_size(scaling.size_bytes)} on "
        f"{scaling.ranks} ranks has {times(cast.median)} the rate of one ({between(cast)}){beside} "
        f"on {scaling.series}: {linear}."
    )
    return Finding.of(scaling, text, 41, "array-scaling", "Global arrays over cores")


class PartialLines(Finder[Facts]):
    """Where a put of less than a cache line takes longer than one of a whole line."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        by_library: dict[str, list[memory.PartialLine]] = {}
        for case in memory.partial_lines(facts):
            by_library.setdefault(case.series, []).append(case)
        for cases in by_library.values():
            worst, *further = cases
            pattern = ", ".join(filter(None, (worst.pattern, worst.axes)))
            also = f"; so do {count(len(further), 'further pattern')}" if len(further) > 1 else ""
            also = f"; so does {further[0].pattern}" if len(further) == 1 else also
            text = (
                f"{worst.series}: a {pattern} of {format_size(worst.size_bytes)} takes "
                f"{format_time(worst.partial.median)}, one of a whole cache line "
                f"({memory.LINE_BYTES} B) {format_time(worst.line.median)}: less than a line costs "
                f"{times(worst.ratio.median)} as much ({between(worst.ratio)}){also}."
            )
            kind = "partial-line"
            remedy = f"Pad short puts to whole lines of {memory.LINE_BYTES} B here."
            yield Finding.of(worst, text, (42, 68), kind, "Less than a line", remedy=remedy)


class SegmentLife(Finder[Facts]):
    """The cost of setting up remote memory in transfers, which shows when keeping it pays off."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        parts = memory.part_times(facts)
        for (series,), lives in parts.group_by("series", maintain_order=True):
            largest = lives.filter(pl.col("bytes") == pl.col("bytes").max())
            shares = dict(largest.select("part", "share").iter_rows())
            if len(shares) == len(set(parts["part"])) > 1:
                yield _segment_life_finding(str(series), largest, shares, facts)


def _segment_life_finding(
    series: str, life: pl.DataFrame, shares: dict[str, float], facts: Facts
) -> Finding:
    size_bytes = life["bytes"][0]
    times_s = dict(life.select("part", "time_s").iter_rows())
    steps = memory.step_times(facts).filter(series=series, bytes=size_bytes)
    costliest = steps.sort("time_s").row(-1, named=True)
    overhead_share = shares.get("setup", 0.0) + shares.get("teardown", 0.0)
    parts = ", ".join(f"{part} {format_time(time_s)}" for part, time_s in times_s.items())
    text = (
        f"{series}: of the life of a segment of {format_size(size_bytes)} ({parts}), "
        f"{percent(overhead_share)} is setup and teardown; {costliest['step']} costs most "
        f"({format_time(costliest['time_s'])})."
    )
    about = {"pattern": memory.SEGMENT_PATTERN, "size_bytes": size_bytes}
    kind, label = "segment-life", "Setup and teardown of a segment"
    return Finding.of(None, text, 40, kind, label, value=overhead_share, **about)
