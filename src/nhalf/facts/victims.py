"""Operations of some ranks while the others load the network, against the same ones in quiet."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import RelativeCost, over_standard
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.facts.tails import JUDGED, tail_samples
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.statistics.tails import samples_needed
from nhalf.store.keys import VARIED_POINT, axis

PATTERN = "victim"
FALLBACKS = {"of": "allreduce", "load": "none", "load_bytes": "4096", "nodes": "shared"}
"""The values of axes that are omitted (patterns/traffic/victim.hpp)."""
QUIET = (*VARIED_POINT, "launch", "of", "victims", "nodes")
"""What a quiet operation has in common with one under load."""
_TIMES = ("standard_s", "quiet_tail_s", "median_s", "tail_s")


@dataclass(frozen=True)
class CongestedOperation(RelativeCost):
    """An operation `of` victims beside a `load`: the ratio of its times to those in quiet.

    `tail_ratio` is that of the slowest 1 % of operations, None with too few samples. `quiet_s` and
    `loaded_s` are the times in either state, of all operations and of the slowest 1 %, medians over
    launches.
    """

    of: str
    load: str
    load_bytes: int
    ranks: int
    victims: int
    tail_ratio: Interval | None
    quiet_s: tuple[float, float]
    loaded_s: tuple[float, float]


@fact
def congested(facts: Facts) -> list[CongestedOperation]:
    """Every operation that was measured in both states in the same launches, in order.

    Of measured times two launches are needed, of exact ones one is enough.
    """
    launches = _launches(facts)
    # In quiet it does not matter which size the others would have sent.
    quiet = launches.filter(load="none").unique(QUIET, keep="first", maintain_order=True)
    loaded = over_standard(launches.filter(pl.col("load") != "none"), quiet, QUIET)
    in_quiet = quiet.select(*QUIET, quiet_tail_s="tail_s")
    tails = loaded.join(in_quiet, on=QUIET, nulls_equal=True).with_columns(
        tail_ratio=pl.col("tail_s") / pl.col("quiet_tail_s")
    )
    return list(_operations(tails, facts))


def _operations(loaded: pl.DataFrame, facts: Facts) -> Iterator[CongestedOperation]:
    points = [*QUIET, "load", "load_bytes"]
    points.remove("launch")
    for _, frame in with_series(loaded, facts).group_by(points, maintain_order=True):
        row = frame.row(0, named=True)
        if frame.height < 2 and row["run"] not in exact_runs(facts):
            continue
        tails = frame.filter(pl.col("tail_ratio").is_not_null())["tail_ratio"].to_list()
        medians_s = frame.select(pl.col(*_TIMES).median().fill_null(math.nan)).row(0)
        yield CongestedOperation(
            row["series"],
            row["mpi"],
            PATTERN,
            row["bytes"],
            ratio_interval(frame["ratio"].to_list()),
            of=row["of"],
            load=row["load"],
            load_bytes=int(row["load_bytes"]),
            ranks=row["ranks"],
            victims=int(row["victims"]),
            tail_ratio=ratio_interval(tails) if tails else None,
            quiet_s=medians_s[:2],
            loaded_s=medians_s[2:],
        )


@fact
def _launches(facts: Facts) -> pl.DataFrame:
    """A row per launch of a point: its axes, `median_s`, and `tail_s`, null of too few samples."""
    points = facts.launches.filter(
        pl.col("pattern") == PATTERN, pl.col("median_s") > 0
    ).with_columns(
        axis("victims"), *(axis(name).fill_null(value) for name, value in FALLBACKS.items())
    )
    launch = [*VARIED_POINT, "axes", "launch"]
    tails = (
        tail_samples(facts)
        .filter(pl.col("pattern") == PATTERN)
        .group_by(launch)
        .agg(pl.col("samples_s").explode())
        .filter(pl.col("samples_s").list.len() >= samples_needed(JUDGED))
        .select(
            *launch, tail_s=pl.col("samples_s").list.eval(pl.element().quantile(JUDGED)).list[0]
        )
    )
    return points.join(tails, on=launch, how="left", nulls_equal=True)
