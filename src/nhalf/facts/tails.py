"""Quantiles of the samples of each point: how long the slowest of them take."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.tails import QUANTILE_COLUMNS, QUANTILES, quantiles, slow_samples
from nhalf.store.keys import RUN_CURVE, RUN_POINT

PRINTED = re.compile(r"p(\d{1,2})(?:_(\d{1,4}))?_s")
"""The name of a percentile that another program printed (exchange/importers): `p99_9_s`."""

JUDGED = 0.99


@fact
def tail_samples(facts: Facts) -> pl.DataFrame:
    """The samples of every visit in the reported state (statistics/tails.py)."""
    return slow_samples(facts.measurements, facts.stated)


@fact
def quantile_rows(
    facts: Facts, shares: tuple[float, ...] = QUANTILES, confidence: float = 0.95
) -> pl.DataFrame:
    """QUANTILE_COLUMNS for every point, sorted: those printed by other programs, or of samples.

    What was printed has no interval.
    """
    measured = quantiles(tail_samples(facts), shares, confidence)
    by_program = printed(facts).filter(pl.col("q").is_in(shares))
    of_samples = measured.join(by_program, on=[*RUN_POINT, "q"], how="anti")
    return pl.concat([of_samples, by_program]).sort(*RUN_POINT, "q")


@fact
def tail_overview(facts: Facts) -> list[dict[str, Any]]:
    """The smallest size of each curve of which the 99 % are known: the longest tails first.

    Each is the point's row of the summary with `series`, `quantiles`, and `of_median`, the time of
    the 99 % over the median.
    """
    finite = quantile_rows(facts).filter(pl.col("time_s").is_finite())
    nested = finite.group_by(RUN_POINT).agg(quantiles=pl.struct("q", "time_s", "low_s", "high_s"))
    judged = finite.filter(pl.col("q") == JUDGED).select(*RUN_POINT, judged_s="time_s")
    points = with_series(facts.whole, facts).filter(pl.col("median_s") > 0)
    rows = points.join(judged, on=RUN_POINT).join(nested, on=RUN_POINT)
    smallest = rows.filter(pl.col("bytes") == pl.col("bytes").min().over(RUN_CURVE))
    tails = smallest.with_columns(of_median=pl.col("judged_s") / pl.col("median_s"))
    return tails.sort("of_median", descending=True).to_dicts()


@fact
def printed(facts: Facts) -> pl.DataFrame:
    """QUANTILE_COLUMNS of the percentiles of imported points."""
    rows = list(_printed(facts.summary.select(*RUN_POINT, "samples", "values").to_dicts()))
    return pl.DataFrame(rows, QUANTILE_COLUMNS)


def _printed(points: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for point in points:
        for item in point["values"] or []:
            if match := PRINTED.fullmatch(item["name"]):
                q = round(float(f"{match[1]}.{match[2] or 0}") / 100, 8)
                time = {"time_s": item["value"], "low_s": math.nan, "high_s": math.nan}
                yield {**point, "q": q, **time}


def points_with_quantiles(facts: Facts, shares: Sequence[float] = ()) -> list[dict[str, Any]]:
    """The rows of the summary with `quantiles`: `shares`, or the usual ones and those printed."""
    shares_shown = set(shares or (*QUANTILES, *printed(facts)["q"]))
    by_point: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in quantile_rows(facts, tuple(sorted(shares_shown))).to_dicts():
        by_point.setdefault(tuple(row.pop(name) for name in RUN_POINT), []).append(row)
    points = facts.summary.to_dicts()
    for point in points:
        point["quantiles"] = by_point.get(tuple(point[name] for name in RUN_POINT), [])
    return points
