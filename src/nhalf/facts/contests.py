# SPDX-License-Identifier: Apache-2.0
"""Libraries against each other in one setting, launch by launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
from nhalf.store.keys import RUN_CURVE, RUN_POINT, without

CLASSES = (("small", 0, 2**10), ("medium", 2**10 + 1, 2**16), ("large", 2**16 + 1, 2**62))
"""Size classes of the findings: name, first and last size in bytes."""

SETTING = without(RUN_CURVE, "mpi", "pattern")


@dataclass(frozen=True)
class Contest:
    """Launch medians of several libraries in one setting: same sizes, same launch numbers."""

    frame: pl.DataFrame
    """Columns mpi, launch, bytes, median_s."""
    titles: dict[str, str]
    setting: dict[str, Any]

    def ratios(self, slow: str, fast: str, sizes: Sequence[int]) -> list[float]:
        """Per launch, the middle over sizes of slow's time over fast's.

        The middle, not the mean: one hiccup at one size is not what a library typically needs.
        """
        chosen = self.frame.filter(pl.col("bytes").is_in(list(sizes)))
        first = chosen.filter(pl.col("mpi") == slow)
        second = chosen.filter(pl.col("mpi") == fast).select("launch", "bytes", other_s="median_s")
        pairs = first.join(second, on=["launch", "bytes"])
        middles = pairs.group_by("launch").agg(
            (pl.col("median_s") / pl.col("other_s")).median().alias("ratio")
        )
        return middles.sort("launch")["ratio"].to_list()

    def sizes(self, low: int = 0, high: int = 2**62) -> list[int]:
        """The sizes that every library measured."""
        count = self.frame["mpi"].n_unique()
        common_sizes = (
            self.frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("bytes")
            .agg(pl.col("mpi").n_unique().alias("libraries"))
            .filter(pl.col("libraries") == count)
        )
        return sorted(common_sizes["bytes"].to_list())

    def ranking(self, sizes: Sequence[int]) -> list[str]:
        """Libraries from fast to slow: by the middle over sizes of time relative to the fastest."""
        middles = (
            self.frame.filter(pl.col("bytes").is_in(list(sizes)))
            .group_by("mpi", "bytes")
            .agg(pl.col("median_s").median())
            .with_columns(behind=pl.col("median_s") / pl.col("median_s").min().over("bytes"))
            .group_by("mpi")
            .agg(pl.col("behind").median())
        )
        return middles.sort("behind", "mpi")["mpi"].to_list()

    def time_s(self, mpi: str, size: int) -> float:
        """What is reported of one library at one size."""
        return reported_s(self.frame.filter(pl.col("mpi") == mpi), size)


def contests(data: Facts, pattern: str = MAIN_PATTERN) -> Iterator[Contest]:
    """Each setting of a pattern in which several libraries were measured."""
    points = data.launches.filter((pl.col("pattern") == pattern) & (pl.col("median_s") > 0))
    points = with_cores(points, data)
    for setting, frame in points.group_by(SETTING, maintain_order=True):
        libraries = frame["mpi"].unique().sort().to_list()
        if len(libraries) < 2:
            continue
        named = dict(zip(SETTING, setting, strict=True))
        where = _where(data, named)
        titles = {name: data.titles.get(name, name) + where for name in libraries}
        yield Contest(frame.select("mpi", "launch", "bytes", "median_s"), titles, named)


def with_cores(frame: pl.DataFrame, data: Facts) -> pl.DataFrame:
    """The rows of points whose ranks had cores of their own.

    Where ranks wait for each other's cores, times tell of the scheduler and not of the library.
    """
    crowded = data.summary.filter(pl.col("advice").list.contains("oversubscribed"))
    return frame.join(crowded.select(RUN_POINT), on=RUN_POINT, how="anti", nulls_equal=True)


def _where(data: Facts, setting: dict[str, Any]) -> str:
    """What must be added to a library's name to know which of several settings is meant."""
    parts = [
        f"{setting[name]} ranks" if name == "ranks" else str(setting[name])
        for name in ("ranks", "placement", "axes", "run")
        if setting[name] != "" and data.summary[name].n_unique() > 1
    ]
    return f" [{', '.join(parts)}]" if parts else ""


def beyond(ratios: Sequence[float], threshold: float) -> Interval | None:
    """The interval of ratios, where several launches put all of it above the threshold."""
    if len(ratios) < 2:
        return None
    interval = ratio_interval(ratios)
    return interval if interval.low > threshold else None


def reported_s(frame: pl.DataFrame, size: int) -> float:
    """The reported time over launches at one size, the same as in the tables."""
    return launch_interval(frame.filter(pl.col("bytes") == size)["median_s"].to_numpy()).median
