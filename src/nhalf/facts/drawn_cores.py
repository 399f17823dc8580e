"""How much of the variance between launches goes with the cores that were drawn for them."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from nhalf.store.keys import RUN_POINT
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
