"""Traffic of many ranks at once: one to all, all to one, and dense, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import COSTLY, beyond, chosen_ratios, middles
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval
from nhalf.store.axes import axis
from nhalf.store.keys import RUN_CURVE, without
from nhalf.store.values import value

FANS = ("one-to-many", "many-to-one", "many-to-many")
DENSE = ("dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random")
PHASE = r"^phase=\d+$"


@fact
def fans(facts: Facts) -> pl.DataFrame:
    """One row per point of FANS: columns of `Facts.sound`, `series`, `per_message_s`, `root_s`.

    `per_message_s` is the time of a round over the messages that one rank sends or receives in it;
    `root_s` is that of rank 0 alone, until its last message is sent or received, null if it was
    not measured (as with older probes).
    """
    points = facts.sound.filter(
        pl.col("pattern").is_in(FANS), pl.col("axes") == "", pl.col("ranks") > 1
    )
    per_message_s = pl.col("median_s") / (pl.col("ranks") - 1)
    return with_series(points.with_columns(value("root_s"), per_message_s=per_message_s), facts)


@fact
def phases(facts: Facts) -> pl.DataFrame:
    """One row per point of DENSE that moves data: `Facts.sound`, `series` and the integer `phase`.

    `active` is the number of ranks that send in it, while others may wait; `each_Bps` is the
    sending rate of each.
    """
    phase = axis("phase").cast(pl.Int64, strict=False).alias("phase")
    points = facts.sound.with_columns(phase).filter(
        pl.col("pattern").is_in(DENSE),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("bytes_per_time") > 0,
    )
    active = pl.col("bytes_per_time") // pl.col("bytes")
    each_Bps = pl.col("bytes") / pl.col("median_s")
    return with_series(points.with_columns(active=active, each_Bps=each_Bps), facts)


PHASES_MIN = 3
COMPARED = tuple(pattern for pattern in DENSE if pattern != "dense-random")
"""Patterns whose phase numbers have a meaning; randomly drawn ones do not."""
SETTING = without(RUN_CURVE, "axes")


@dataclass(frozen=True)
class SlowestPhase:
    """Two phases of one pattern at its largest messages: the time in `slow` over that in `fast`.

    Every participating process sends one message in each, so times are compared; `slow_Bps` and
    `fast_Bps` are the rates of one process.
    """

    series: str
    mpi: str
    pattern: str
    ranks: int
    size_bytes: int
    slow: int
    fast: int
    slow_Bps: float
    fast_Bps: float
    ratio: Interval


@fact
def slowest_phases(facts: Facts) -> Iterator[SlowestPhase]:
    """At most one for each library, setting and pattern."""
    points = facts.launches.filter(
        pl.col("pattern").is_in(COMPARED),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("median_s") > 0,
    )
    largest = points.filter(pl.col("bytes") == pl.col("bytes").max().over(SETTING))
    for _, frame in largest.group_by(SETTING, maintain_order=True):
        if frame["axes"].n_unique() >= PHASES_MIN:
            ratio = _ratio(frame, facts)
            if ratio is not None:
                yield _phase(frame, ratio, facts)


def _ratio(frame: pl.DataFrame, facts: Facts) -> Interval | None:
    ratios = chosen_ratios(frame, "axes", _ends)
    return beyond(ratios, COSTLY, is_exact=frame["run"][0] in exact_runs(facts))


def _ends(times_s: Mapping[str, float]) -> tuple[str, str]:
    """The axes of the slowest and of the fastest phase, from their times."""
    phases_by_time = list(times_s)
    return phases_by_time[-1], phases_by_time[0]


def _phase(frame: pl.DataFrame, ratio: Interval, facts: Facts) -> SlowestPhase:
    slow, fast = (frame.filter(axes=axes) for axes in _ends(middles(frame, "axes")))
    first = slow.with_columns(axis("phase")).row(0, named=True)
    size = int(first["bytes"])
    return SlowestPhase(
        series=with_series(slow.head(1), facts)["series"][0],
        mpi=first["mpi"],
        pattern=first["pattern"],
        ranks=first["ranks"],
        size_bytes=size,
        slow=int(first["phase"]),
        fast=int(fast.select(axis("phase")).item(0, 0)),
        slow_Bps=size / float(slow["median_s"].median()),  # type: ignore[arg-type]
        fast_Bps=size / float(fast["median_s"].median()),  # type: ignore[arg-type]
        ratio=ratio,
    )
