"""How precise the results of a run are, and what their spread is made of."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.facts.extent import half_width, of_messages
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import plain, series_names, with_series
from nhalf.statistics.advice import OTHER_STATE, PRECISION_TARGET, advice
from nhalf.statistics.intervals import student_quantile
from nhalf.store.keys import RUN_CURVE, RUN_POINT
from nhalf.store.places import Start, StartedLaunch

START = ["run", "mpi", "ranks", "placement"]
ERROR = 0.05
"""The probability that the share is beyond one end of its interval."""


def cores_share(
    launches: pl.DataFrame, started: Mapping[str, Mapping[Start, Sequence[StartedLaunch]]]
) -> tuple[float, float] | None:
    """The share as a 90 % interval; None unless some launches had equal cores, and some others.

    `launches` has RUN_POINT, `launch` and `mean`, a logarithm. The interval is that of an
    intraclass correlation (S. Searle, G. Casella, C. McCulloch, Variance Components, Wiley 1992,
    3.6d), of all starts together.
    """
    from scipy.special import fdtri

    rows = [
        (run, subject, ranks, placement, launch.launch, str([p.cpu for p in launch.placement]))
        for run, starts in started.items()
        for (subject, ranks, placement), all_launches in starts.items()
        for launch in all_launches
        if launch.placement and all(place.pinned for place in launch.placement)
    ]
    if not rows:
        return None
    key = [*START, "launch"]
    kinds = {name: launches.schema[name] for name in key} | {"cores": pl.String()}
    cores = pl.DataFrame(rows, kinds, orient="row").unique(key)
    deviation = pl.col("mean") - pl.col("mean").mean().over(RUN_POINT)
    levels = launches.with_columns(level=deviation).group_by(key).agg(pl.col("level").median())
    level, number = pl.col("level"), pl.col("number")
    groups = (
        levels.join(cores, on=key)
        .group_by(*START, "cores")
        .agg(number=pl.len(), mean=level.mean(), within=level.var(ddof=0) * pl.len())
    )
    mean = (number * pl.col("mean")).sum() / number.sum()
    summed = groups.group_by(START).agg(
        pl.col("within").sum(),
        between=(number * (pl.col("mean") - mean) ** 2).sum(),
        degrees=pl.len() - 1,
        within_degrees=number.sum() - pl.len(),
        size=number.sum() - (number**2).sum() / number.sum(),
    )
    total = {name: float(summed[name].sum()) for name in summed.columns if name not in START}
    if not (total.get("degrees") and total["within_degrees"] and total["within"] > 0):
        return None
    degrees, within_degrees = total["degrees"], total["within_degrees"]
    ratio = total["between"] / degrees / (total["within"] / within_degrees)
    size = total["size"] / degrees
    low, high = (ratio / float(fdtri(degrees, within_degrees, p)) for p in (1 - ERROR, ERROR))
    shares = [(end - 1) / (end - 1 + size) if math.isfinite(end) else 1.0 for end in (low, high)]
    return max(shares[0], 0.0), max(shares[1], 0.0)


LAUNCHES_LEAST = 3
"""With fewer launches their spread is unknown."""
VISITS_LEAST = 1.5
"""Visits of a launch to a point, on average, that show how visits differ."""
PAIRS_LEAST = 8
"""Launches of two libraries side by side that can show whether they were slow together."""
CHANCE = 0.01
"""How often launches that have nothing in common seem to be slow together."""


@dataclass(frozen=True)
class SpreadParts:
    """Relative standard deviations of one library's times, medians over its points.

    `launch_share` is that of launches beyond what their visits explain, `visit_share` that of the
    visits of one launch to a point. `same_cores` says whether all launches of each start had their
    ranks bound to the same cores; None if they were not bound, or if that is unknown.
    `common_share` is the correlation of its launches with those of another library beside them,
    None if it may be chance: what a start draws is not common to two libraries, a change of the
    machine is. `cores_share` is the part of the variance between its launches that goes with their
    cores, as an interval; None if that is unknown.
    """

    mpi: str
    launch_share: float
    visit_share: float
    same_cores: bool | None
    common_share: float | None = None
    cores_share: tuple[float, float] | None = None


@fact
def spread_parts(facts: Facts) -> list[SpreadParts]:
    """The parts of each library whose launches visited points several times, widest first.

    One-way analysis of variance, with launches as groups, of the logarithms of visits' medians.
    """
    logs = facts.stated.filter(pl.col("counts") & (pl.col("median_s") > 0)).with_columns(
        log=pl.col("median_s").log()
    )
    launches = logs.group_by([*RUN_POINT, "launch"]).agg(
        mean=pl.col("log").mean(), within=pl.col("log").var(), visits=pl.len()
    )
    points = launches.group_by(RUN_POINT).agg(
        between=pl.col("mean").var(),
        within=pl.col("within").mean(),
        visits=pl.col("visits").mean(),
        launches=pl.len(),
    )
    spread_points = points.filter(
        pl.col("launches") >= LAUNCHES_LEAST, pl.col("visits") >= VISITS_LEAST
    ).drop_nulls(["within", "mpi"])
    beyond = (pl.col("between") - pl.col("within") / pl.col("visits")).clip(0)
    shares_by_library = _common_shares(launches)
    parts = [
        SpreadParts(
            str(mpi),
            _share(part.select(beyond)),
            _share(part.select("within")),
            _cores(facts, mpi),
            shares_by_library.get(str(mpi)),
            cores_share(launches.filter(pl.col("mpi") == mpi), facts.started),
        )
        for (mpi,), part in spread_points.group_by("mpi")
    ]
    return sorted(parts, key=lambda part: (-part.launch_share, part.mpi))


def _share(variances: pl.DataFrame) -> float:
    """The standard deviation that belongs to the median of some variances."""
    return math.sqrt(variances.to_series().median())  # type: ignore[arg-type]


def _common_shares(launches: pl.DataFrame) -> dict[str, float]:
    """The largest correlation of each library's launches with those of another one of its run.

    The test is Student's of a correlation, t = r sqrt((n - 2) / (1 - r^2)).
    """
    deviation = pl.col("mean") - pl.col("mean").mean().over(RUN_POINT)
    level = pl.col("deviation").median()
    levels = (
        launches.with_columns(deviation=deviation).group_by("run", "mpi", "launch").agg(level=level)
    )
    pairs = (
        levels.join(levels, on=["run", "launch"], suffix="_beside")
        .filter(pl.col("mpi") != pl.col("mpi_beside"))
        .group_by("run", "mpi", "mpi_beside")
        .agg(correlation=pl.corr("level", "level_beside"), pairs=pl.len())
        .filter(pl.col("pairs") >= PAIRS_LEAST, pl.col("correlation").is_finite())
    )
    shares_by_library: dict[str, float] = {}
    for mpi, r, number in pairs.select("mpi", "correlation", "pairs").sort("correlation").rows():
        quantile = student_quantile(number - 2, 1 - 2 * CHANCE)
        if r > 0 and r * math.sqrt(number - 2) > quantile * math.sqrt(max(1 - r * r, 0.0)):
            shares_by_library[mpi] = r
    return shares_by_library


def _cores(facts: Facts, mpi: object) -> bool | None:
    """Whether the ranks of a library had the same cores in all launches; None if not bound."""
    starts = [
        [launch.placement for launch in launches]
        for by_start in facts.started.values()
        for (subject, _, _), launches in by_start.items()
        if subject == mpi and len(launches) > 1
    ]
    places = [place for launches in starts for launch in launches for place in launch]
    if not places or not all(place.pinned for place in places):
        return None
    return all(launch == launches[0] for launches in starts for launch in launches)


BLIND = 1.0
"""From this half-width on, an interval gives hardly more than the order of magnitude."""
WORSE = 3.0
"""An interval is reported if it is wider than its neighbours by this factor."""


@fact
def missed(facts: Facts) -> pl.DataFrame:
    """The summary's points whose interval is wider than their run's target, widest first.

    Adds `series` and `half_width` (relative, the larger side). Points of one launch are not
    judged: their interval says nothing about other launches.
    """
    points = _missed(_judged(facts)).drop("target").sort("half_width", descending=True)
    return with_series(points, facts)


@dataclass(frozen=True)
class ReachedPrecision:
    """The precision reached, if half of the points missed the target of their run.

    `half_width_share` is the median over all points, `most_share` the bound that 95 % of them
    keep; `launches` the fewest and the most of a point.
    """

    half_width_share: float
    most_share: float
    launches: tuple[int, int]


@fact
def reach(facts: Facts) -> ReachedPrecision | None:
    """The precision that the machine's noise allowed; None if most points reached the target."""
    points = _judged(facts)
    if points.is_empty() or 2 * _missed(points).height <= points.height:
        return None
    widths = points["half_width"]
    launches = points["launches"].to_list()
    return ReachedPrecision(
        float(widths.median()),  # type: ignore[arg-type]
        float(widths.quantile(0.95) or 0.0),
        (min(launches), max(launches)),
    )


@fact
def worse_than_neighbours(facts: Facts) -> pl.DataFrame:
    """The points that missed the target by far more than their neighbours, worst first.

    Neighbours are the points of the same curve up to two sizes away; if these are just as
    imprecise, no point is singled out. Columns as `missed`, and `neighbours`, the median
    half-width there.
    """
    points = with_series(_judged(facts), facts).sort(*RUN_CURVE, "bytes")
    width = pl.col("half_width")
    beside = [width.shift(step).over(RUN_CURVE) for step in (-2, -1, 1, 2)]
    middle = pl.concat_list(beside).list.drop_nulls().list.median()
    return (
        points.with_columns(neighbours=middle)
        .filter(
            width > pl.col("target"),
            width > WORSE * pl.col("neighbours"),
            pl.col("neighbours") < BLIND,
        )
        .sort("half_width", descending=True)
    )


def _missed(points: pl.DataFrame) -> pl.DataFrame:
    """The judged points whose interval is wider than the target."""
    return points.filter(pl.col("half_width") > pl.col("target"))


@fact
def _judged(facts: Facts) -> pl.DataFrame:
    """Points of several launches with `half_width`, relative, and `target`."""
    targets = {run: target_of(environment) for run, environment in facts.environments.items()}
    target = pl.col("run").replace_strict(
        targets, default=PRECISION_TARGET, return_dtype=pl.Float64
    )
    return (
        of_messages(facts)
        .with_columns(half_width=half_width(), target=target)
        .filter((pl.col("launches") > 1) & pl.col("half_width").is_finite())
    )


@fact
def target(facts: Facts) -> float:
    """The target half-width, the largest if runs differ."""
    return max(map(target_of, facts.environments.values()), default=PRECISION_TARGET)


def target_of(environment: Mapping[str, Any]) -> float:
    """The target half-width: PRECISION_TARGET, or that of the plan if larger."""
    plan = environment.get("plan")
    requested = plan.get("precision") if isinstance(plan, dict) else None
    if not isinstance(requested, int | float):
        return PRECISION_TARGET
    return max(PRECISION_TARGET, float(requested))


POINT = ["series", "pattern", "bytes"]


@fact
def deviations(facts: Facts) -> pl.DataFrame:
    """One row per launch, size and pattern between two ranks.

    Columns of a launch, `series` and `deviation`, the difference of its median from that of the
    point's median launch, relative to it. Points of one launch are left out.
    """
    points = with_series(plain(facts.launches, facts), facts)
    deviation = pl.col("median_s") / pl.col("median_s").median().over(POINT) - 1
    several = points.filter(pl.len().over(POINT) > 1).with_columns(deviation=deviation)
    return several.filter(pl.col("deviation").is_finite())


@fact
def with_repetitions(facts: Facts) -> pl.DataFrame:
    """`Facts.summary` with `repetitions`, how often the operation was timed over all launches, and
    `batch`, the largest number of consecutive ones without a pause.
    """
    repetitions = (pl.col("batch") * pl.col("samples_s").list.len()).sum().cast(pl.Int64)
    batch = pl.col("batch").max()
    counted = (
        facts.measurements.group_by(RUN_POINT).agg(repetitions=repetitions, batch=batch).collect()
    )
    return facts.summary.join(
        counted, on=RUN_POINT, how="left", nulls_equal=True, maintain_order="left"
    )


@dataclass(frozen=True)
class PointWarning:
    """One kind of warning: its meaning, its remedy, and the libraries affected.

    `points` is the number of points that carry it; `series` are their libraries, sorted, and
    `everyone` says whether these are all.
    """

    name: str
    meaning: str
    remedy: str
    points: int
    series: tuple[str, ...]
    everyone: bool


@fact
def point_warnings(facts: Facts) -> list[PointWarning]:
    """One entry per kind, in order of appearance; `machine_states` counts points elsewhere."""
    carried = with_series(of_messages(facts), facts).explode("advice").drop_nulls("advice")
    carried = carried.filter(pl.col("advice") != OTHER_STATE)
    everyone = len(series_names(facts))
    warnings = []
    for (name,), frame in carried.group_by("advice", maintain_order=True):
        meaning, remedy = _words(str(name))
        names = tuple(sorted(frame["series"].unique()))
        warnings.append(
            PointWarning(str(name), meaning, remedy, frame.height, names, len(names) == everyone)
        )
    return warnings


def _words(name: str) -> tuple[str, str]:
    """The text of an advice and its remedy; an unknown one is quoted by name."""
    try:
        kind = advice(name)
    except InputError:
        return f"the advice {name!r} was given", ""
    return kind.meaning, kind.remedy


def unresolved(facts: Facts, unmeasured: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """The numbers of imprecise and of unmeasured points, by pattern.

    `unmeasured` holds for each pattern how many of how many points have no launch. Patterns
    without either are left out; members are `pattern`, `points`, `imprecise` and `unmeasured`.
    """
    wide = facts.summary.filter(pl.col("advice").list.contains("imprecise"))
    imprecise = dict(wide.group_by("pattern").len().iter_rows())
    rows = [
        {
            "pattern": pattern,
            "points": points,
            "imprecise": imprecise.get(pattern, 0),
            "unmeasured": missing,
        }
        for pattern, (missing, points) in sorted(unmeasured.items())
    ]
    return [row for row in rows if row["imprecise"] or row["unmeasured"]]
