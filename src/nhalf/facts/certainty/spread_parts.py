"""What the spread of times is made of: launches, visits of one launch, cores, slow changes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.student import student_quantile
from nhalf.store.keys import RUN_POINT

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
    machine is.
    """

    mpi: str
    launch_share: float
    visit_share: float
    same_cores: bool | None
    common_share: float | None = None


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
    levels = (
        launches.with_columns(deviation=deviation)
        .group_by("run", "mpi", "launch")
        .agg(level=pl.col("deviation").median())
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
