"""Comparisons of libraries in one setting, launch by launch, and with layers below and beside MPI.

A library that leads in one pattern at small, medium or large messages may be behind in another, or
at some sizes of the same one: each lead lists the patterns that agree and the exceptions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.facts.difference import COSTLY, FASTER, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, library_label, plain_points
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
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
        is_common = pl.col("mpi").n_unique().over("bytes") == count
        common = self.frame.filter(pl.col("bytes").is_between(low, high), is_common)
        return common["bytes"].unique().sort().to_list()

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


OTHER_MACHINES = ("model", "simulated", "threads")
"""Transports without a library that no library builds on: other processes, or other machines."""
CLASSIC_PATTERNS = ("one-to-many", "many-to-one", "many-to-many", "bcast", "allreduce")
"""Shown besides the ping-pong, as in the classic comparisons of message layers."""
LAYERED = without(RUN_POINT, "mpi", "transport")


@dataclass(frozen=True)
class LayerTime:
    """The time of one size on a library and on the fastest layer, seconds.

    `own` is the share of the library's time in excess of the layer, with its interval over
    launches.
    """

    size_bytes: int
    library_s: float
    layer: str
    layer_s: float
    own: Interval


@fact
def has_layers(facts: Facts) -> bool:
    """Whether anything was measured without a library."""
    return not facts.whole.filter(_is_layer()).is_empty()


@fact
def against_layers(facts: Facts) -> pl.DataFrame:
    """Per launch, every library and layer against the fastest layer of its point.

    Columns of a launch, `label`, `layer` (the fastest one), `layer_s` and `ratio` (its time over
    that of the fastest layer in the same round of launches). Only points that a layer has.
    """
    points = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    layers = points.filter(_is_layer())
    medians = layers.group_by(*LAYERED, "transport").agg(pl.col("median_s").median())
    quickest = medians.sort("median_s", "transport").group_by(LAYERED, maintain_order=True).first()
    chosen = layers.join(
        quickest.select(*LAYERED, "transport"), on=[*LAYERED, "transport"], nulls_equal=True
    ).select(*LAYERED, "launch", layer="transport", layer_s="median_s")
    layered = points.filter((pl.col("mpi") != "") | _is_layer())
    joined = layered.join(chosen, on=[*LAYERED, "launch"], nulls_equal=True)
    labels = [library_label(facts, *row) for row in joined.select("transport", "mpi").iter_rows()]
    ratio = pl.col("median_s") / pl.col("layer_s")
    return joined.with_columns(pl.Series("label", labels, dtype=pl.String), ratio=ratio)


@fact
def own_parts(facts: Facts) -> Iterator[tuple[dict[str, object], list[LayerTime]]]:
    """Every library, with the sizes of the main pattern at which it is significantly slower."""
    launches = against_layers(facts).filter(
        (pl.col("mpi") != "") & (pl.col("pattern") == MAIN_PATTERN) & (pl.col("axes") == "")
    )
    about = ["run", "label", "mpi", "ranks", "placement"]
    for key, frame in launches.group_by(about, maintain_order=True):
        parts = [
            part
            for (size,), points in frame.sort("launch").group_by("bytes", maintain_order=True)
            if (part := _part(int(str(size)), points)) is not None
        ]
        if parts:
            by_size = sorted(parts, key=lambda part: part.size_bytes)
            yield dict(zip(about, key, strict=True)), by_size


def _part(size_bytes: int, points: pl.DataFrame) -> LayerTime | None:
    """One size of one library; None if the layer may take as long."""
    if points.height < 2:
        return None
    share = ratio_interval((1 / points["ratio"]).to_list())
    if share.high > 1 / FASTER:
        return None
    return LayerTime(
        size_bytes,
        launch_interval(points["median_s"].to_numpy()).median,
        str(points["layer"][0]),
        launch_interval(points["layer_s"].to_numpy()).median,
        Interval(1 - share.median, 1 - share.high, 1 - share.low),
    )


def _is_layer() -> pl.Expr:
    return (pl.col("mpi") == "") & ~pl.col("transport").is_in(OTHER_MACHINES)


@dataclass(frozen=True)
class Exemption:
    """Adjacent sizes of a pattern at which the leader is behind, with the ratio.

    `faster` is the title of the library ahead there, `ratio` the leader's time over its.
    """

    pattern: str
    first_bytes: int
    last_bytes: int
    faster: str
    ratio: Interval


@dataclass(frozen=True)
class Lead:
    """The fastest library at the sizes of a class in one setting.

    The verdict is from `pattern`; `agreeing` are further patterns with the same leader, and
    `exceptions` are sorted, the strongest first.
    """

    size_class: str
    pattern: str
    contest: Contest
    sizes: tuple[int, ...]
    standing: Standing
    agreeing: tuple[str, ...]
    exceptions: tuple[Exemption, ...]

    @property
    def depends_on_size(self) -> bool:
        """Whether libraries are tied over all sizes, though the best is far behind at some."""
        return bool(self.standing.level) and bool(self.cliffs(self.standing.best))

    @property
    def alike(self) -> tuple[str, ...]:
        """The libraries that are as fast as the leader, with no cliffs."""
        return tuple(mpi for mpi in self.standing.level if not self.cliffs(mpi))

    def cliffs(self, mpi: str) -> list[Exemption]:
        """The sizes of the pattern at which a library is far behind another, the worst first."""
        exceptions = _exceptions(self.pattern, self.contest, self.sizes, mpi)
        far_behind = (exception for exception in exceptions if exception.ratio.low > COSTLY)
        return sorted(far_behind, key=lambda exception: -exception.ratio.median)


@fact
def leads(facts: Facts) -> list[Lead]:
    """The lead in every setting and size class in which one library is significantly ahead."""
    return [
        lead
        for by_pattern in _settings(facts)
        for name, low, high in CLASSES
        if (lead := _lead(name, by_pattern, low, high)) is not None
    ]


@fact
def _settings(facts: Facts) -> list[dict[str, Contest]]:
    """The contests of every setting by pattern, the main pattern first."""
    measured = plain_points(facts)["pattern"].unique().to_list()
    by_setting: dict[tuple[Any, ...], dict[str, Contest]] = {}
    for pattern in sorted(measured, key=lambda pattern: (pattern != MAIN_PATTERN, pattern)):
        for contest in contests(facts, pattern):
            if not contest.setting["axes"]:
                by_setting.setdefault(tuple(contest.setting.values()), {})[pattern] = contest
    return list(by_setting.values())


def _lead(size_class: str, contests: dict[str, Contest], low: int, high: int) -> Lead | None:
    """The verdict of the first pattern that has one, and agreement or exceptions of the others."""
    sizes = {pattern: contest.sizes(low, high) for pattern, contest in contests.items()}
    verdicts = {
        pattern: contest.standing(sizes[pattern])
        for pattern, contest in contests.items()
        if sizes[pattern]
    }
    decided = [pattern for pattern, standing in verdicts.items() if standing.behind]
    if not decided:
        return None
    pattern, *further_patterns = decided
    best = verdicts[pattern].best
    exceptions = [
        exception
        for name in verdicts
        if best in contests[name].titles
        for exception in _exceptions(name, contests[name], sizes[name], best)
    ]
    return Lead(
        size_class=size_class,
        pattern=pattern,
        contest=contests[pattern],
        sizes=tuple(sizes[pattern]),
        standing=verdicts[pattern],
        agreeing=tuple(name for name in further_patterns if verdicts[name].best == best),
        exceptions=tuple(sorted(exceptions, key=lambda exception: -exception.ratio.median)),
    )


def _exceptions(
    pattern: str, contest: Contest, sizes: Sequence[int], best: str
) -> Iterator[Exemption]:
    """The runs of adjacent sizes at which another library beats `best` significantly.

    A single size must do so by more, because it was selected among many.
    """
    fastest = _fastest(contest, sizes, best)
    for rival, group in groupby(sizes, key=lambda size: fastest[size]):
        run = list(group)
        if rival == best:
            continue
        ratio = beyond(contest.ratios(best, rival, run), FASTER if len(run) > 1 else COSTLY)
        if ratio is not None:
            yield Exemption(pattern, run[0], run[-1], contest.titles[rival], ratio)


def _fastest(contest: Contest, sizes: Sequence[int], best: str) -> dict[int, str]:
    """The fastest library by size: `best`, unless another's median is lower by more than FASTER."""
    medians = (
        contest.frame.filter(pl.col("bytes").is_in(list(sizes)))
        .group_by("bytes", "mpi")
        .agg(pl.col("median_s").median())
    )
    times: dict[int, dict[str, float]] = {}
    for size, mpi, median_s in medians.iter_rows():
        times.setdefault(size, {})[mpi] = median_s
    return {
        size: min(of, key=lambda mpi: of[mpi] * (1 if mpi != best else 1 / FASTER))
        for size, of in times.items()
    }
