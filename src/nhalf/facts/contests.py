"""Comparisons of libraries in one setting, launch by launch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.facts.difference import FASTER, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.keys import RUN_CURVE, RUN_POINT, without

CLASSES = (("small", 0, 2**10), ("medium", 2**10 + 1, 2**16), ("large", 2**16 + 1, 2**62))
"""Size classes of the findings: name, first and last size in bytes."""

SETTING = without(RUN_CURVE, "mpi", "pattern")
DISTINGUISHING = ("ranks", "placement", "axes", "run")
"""Columns of a setting that are named where a pattern has several values of them."""


@dataclass(frozen=True)
class Standing:
    """The fastest library at some sizes, and the others' ratios to it.

    `level` are indistinguishable from `best`; `behind` are significantly slower, fast to slow.
    """

    best: str
    level: tuple[str, ...]
    behind: tuple[tuple[str, Interval], ...]


@dataclass(frozen=True)
class Contest:
    """Launch medians of several libraries in one setting: same sizes, same launch numbers."""

    frame: pl.DataFrame
    """Columns mpi, launch, bytes, median_s."""
    titles: dict[str, str]
    """By library, with `where` in brackets."""
    setting: dict[str, Any]
    where: str = ""
    """What distinguishes the setting from the pattern's others: '8 ranks'."""

    def ratios(self, slow: str, fast: str, sizes: Sequence[int]) -> list[float]:
        """Per launch, the median over sizes of slow's time over fast's.

        The median, not the mean: an outlier at one size is not typical of a library.
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
        """Libraries from fast to slow: by the median over sizes of time relative to the fastest."""
        middles = (
            self.frame.filter(pl.col("bytes").is_in(list(sizes)))
            .group_by("mpi", "bytes")
            .agg(pl.col("median_s").median())
            .with_columns(behind=pl.col("median_s") / pl.col("median_s").min().over("bytes"))
            .group_by("mpi")
            .agg(pl.col("behind").median())
        )
        return middles.sort("behind", "mpi")["mpi"].to_list()

    def standing(self, sizes: Sequence[int]) -> Standing:
        """The fastest library at the sizes that every library measured."""
        best, *rivals = self.ranking(sizes)
        intervals = {rival: self.behind(rival, best, sizes) for rival in rivals}
        return Standing(
            best,
            tuple(rival for rival, interval in intervals.items() if interval is None),
            tuple((rival, interval) for rival, interval in intervals.items() if interval),
        )

    def behind(self, slow: str, fast: str, sizes: Sequence[int]) -> Interval | None:
        """Slow's time over fast's, if it is significantly slower."""
        return beyond(self.ratios(slow, fast, sizes), FASTER)

    def quicker(self, mpi: str, size: int) -> tuple[str, int] | None:
        """A library significantly faster than another at a size or the next, and that size."""
        near_sizes = [near for near in self.sizes() if size <= near <= 2 * size]
        rivals = [name for name in self.titles if name != mpi]
        if not near_sizes or not rivals:
            return None
        best = min(rivals, key=lambda name: self.time_s(name, near_sizes[0]))
        return (best, near_sizes[0]) if self.behind(mpi, best, near_sizes[:1]) else None

    def time_s(self, mpi: str, size: int) -> float:
        """The reported value of one library at one size."""
        return reported_s(self.frame.filter(pl.col("mpi") == mpi), size)


@fact
def contests(facts: Facts, pattern: str = MAIN_PATTERN) -> list[Contest]:
    """Each setting of a pattern in which several libraries were measured."""
    points = facts.launches.filter((pl.col("pattern") == pattern) & (pl.col("median_s") > 0))
    points = with_cores(points, facts)
    several = [name for name in DISTINGUISHING if points[name].n_unique() > 1]
    contested = []
    for setting, frame in points.group_by(SETTING, maintain_order=True):
        libraries = frame["mpi"].unique().sort().to_list()
        if len(libraries) < 2:
            continue
        setting_values = dict(zip(SETTING, setting, strict=True))
        where = ", ".join(
            ranks_text(setting_values[name]) if name == "ranks" else str(setting_values[name])
            for name in several
            if setting_values[name] != ""
        )
        suffix = f" [{where}]" if where else ""
        titles = {name: facts.titles.get(name, name) + suffix for name in libraries}
        times = frame.select("mpi", "launch", "bytes", "median_s")
        contested.append(Contest(times, titles, setting_values, where))
    return contested


def with_cores(frame: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """The rows of points whose ranks had their own cores.

    If ranks share cores, times reflect the scheduler and not the library.
    """
    return frame.join(crowded_points(facts), on=RUN_POINT, how="anti", nulls_equal=True)


@fact
def crowded_points(facts: Facts) -> pl.DataFrame:
    """The points, by RUN_POINT, whose ranks shared cores."""
    return facts.summary.filter(pl.col("advice").list.contains("oversubscribed")).select(RUN_POINT)


def reported_s(frame: pl.DataFrame, size: int) -> float:
    """The reported time over launches at one size, as in the tables."""
    return launch_interval(frame.filter(pl.col("bytes") == size)["median_s"].to_numpy()).median
