"""Dense patterns whose rate is highest below the largest messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import with_cores
from nhalf.facts.difference import COSTLY, beyond, chosen_ratios, middles
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.many_ranks import DENSE, PHASE, SETTING
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval, launch_interval


@dataclass(frozen=True)
class Peak:
    """The size at which each process sends fastest, over all phases, and the largest size.

    `peak_Bps` and `largest_Bps` are rates of one process; `ratio` is the first over the second.
    """

    series: str
    mpi: str
    pattern: str
    ranks: int
    size_bytes: int
    peak_Bps: Interval
    largest_bytes: int
    largest_Bps: Interval
    ratio: Interval


@fact
def peaks_below_largest(facts: Facts) -> Iterator[Peak]:
    """At most one for each library, setting and pattern, where the peak is certainly higher."""
    for _, frame in _times_per_byte(facts).group_by(SETTING, maintain_order=True):
        largest = frame["bytes"].max()

        def ends(byte_s_by_size: Mapping[int, float], largest: object = largest) -> tuple[int, int]:
            return int(str(largest)), next(iter(byte_s_by_size))

        exact = frame["run"][0] in exact_runs(facts)
        ratio = beyond(chosen_ratios(frame, "bytes", ends), COSTLY, is_exact=exact)
        if ratio is not None:
            yield _peak(frame, ratio, facts)


def _peak(frame: pl.DataFrame, ratio: Interval, facts: Facts) -> Peak:
    fastest, largest = next(iter(middles(frame, "bytes"))), frame["bytes"].max()
    subject = with_series(frame.head(1), facts).row(0, named=True)
    return Peak(
        series=subject["series"],
        mpi=subject["mpi"],
        pattern=subject["pattern"],
        ranks=subject["ranks"],
        size_bytes=fastest,
        peak_Bps=_rate(frame.filter(bytes=fastest)),
        largest_bytes=int(str(largest)),
        largest_Bps=_rate(frame.filter(bytes=largest)),
        ratio=ratio,
    )


def _rate(frame: pl.DataFrame) -> Interval:
    byte_s = launch_interval(frame["median_s"].to_numpy())
    return Interval(1 / byte_s.median, 1 / byte_s.high, 1 / byte_s.low)


@fact
def _times_per_byte(facts: Facts) -> pl.DataFrame:
    """One row per launch and size: `median_s` is the time in which each process sends a byte.

    It is the mean over phases. A launch that lacks a phase, or ranks that share cores, do not
    count.
    """
    points = facts.launches.filter(
        pl.col("pattern").is_in(DENSE),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("median_s") > 0,
    )
    by = [*SETTING, "bytes", "launch"]
    phases = with_cores(points, facts).group_by(by, maintain_order=True)
    sizes = phases.agg(
        median_s=pl.col("median_s").mean() / pl.col("bytes").first(),
        phases=pl.len(),
        axes=pl.lit(""),
    )
    return sizes.filter(pl.col("phases") == pl.col("phases").max().over(SETTING))
