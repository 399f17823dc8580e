"""Offered and accepted traffic, the costly destination rules, and the effective bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.results.b_eff import average
from nhalf.results.traffic.accepted import OVER_LOADS, curves, launches, per_sender
from nhalf.statistics.intervals import Interval


@fact
def offered_and_accepted(facts: Facts) -> pl.DataFrame:
    """One row per series, setting, rule and load, sorted; empty if no load was offered.

    Columns are those of `nhalf.results.traffic.accepted.curves`, `series`, and the rates per
    sending rank, so that rules with idle ranks are comparable: `offered_per_sender_Bps` and
    `accepted_per_sender_Bps`.
    """
    points = launches(facts.measurements)
    if points.is_empty():
        return points
    needed = ("offered_Bps", "accepted_Bps", "accepted_share", "senders")
    offered = curves(points).drop_nulls(needed).filter(pl.col("bytes") > 0)
    if offered.is_empty():
        return offered
    but_distance = [name for name in OVER_LOADS if name != "distance"]
    lowest = (
        offered.group_by(OVER_LOADS, maintain_order=True)
        .agg(rate=(pl.col("saturated_Bps") / pl.col("senders")).median())
        .sort("rate", maintain_order=True)
        .unique(but_distance, keep="first")
        .drop("rate")
    )
    per_sender = {
        f"{name}_per_sender_Bps": pl.col(f"{name}_Bps") / pl.col("senders")
        for name in ("offered", "accepted")
    }
    slowest_stages = (
        offered.with_columns(**per_sender)
        .join(lowest, on=OVER_LOADS, how="semi")
        .sort("bytes", *OVER_LOADS, "load_percent", maintain_order=True)
    )
    return with_series(slowest_stages.with_columns(algorithm=pl.lit(""), axes=pl.lit("")), facts)


RULE = ("to", "distance")


@dataclass(frozen=True)
class Rules:
    """The slowest and the fastest rule of a setting under full load.

    `setting` has the columns of a curve of traffic, `slow` and `fast` those of RULE; `ratio` is the
    ratio of each sender's throughput.
    """

    setting: Row
    slow: Row
    fast: Row
    ratio: Interval


@fact
def costly_rules(facts: Facts) -> list[Rules]:
    """One per library: the setting in which the rule matters most, if significant."""
    crowded = pl.col("advice").list.contains("oversubscribed")
    rates = per_sender(launches(facts.measurements.filter(~crowded)))
    settings = [name for name in OVER_LOADS if name not in RULE]
    worst_rules = [_worst(frame) for _, frame in rates.group_by(settings, maintain_order=True)]
    by_library: dict[str, Rules] = {}
    significant = (rules for rules in worst_rules if rules is not None)
    for rules in sorted(significant, key=lambda rules: -rules.ratio.median):
        by_library.setdefault(rules.setting["mpi"], rules)
    return list(by_library.values())


def _worst(rates: pl.DataFrame) -> Rules | None:
    """The worst rule in one setting, if significant."""
    middles = rates.group_by(RULE, maintain_order=True).agg(pl.col("per_sender_Bps").median())
    ordered = middles.drop_nulls().sort("per_sender_Bps", *RULE)
    if ordered.height < 2:
        return None
    slow, fast = ordered.row(0, named=True), ordered.row(-1, named=True)
    pairs = _of(rates, slow).join(_of(rates, fast), on="launch", suffix="_fast").sort("launch")
    ratios = (pairs["per_sender_Bps_fast"] / pairs["per_sender_Bps"]).to_list()
    interval = beyond(ratios, COSTLY)
    return None if interval is None else Rules(rates.row(0, named=True), slow, fast, interval)


def _of(rates: pl.DataFrame, rule: Row) -> pl.DataFrame:
    is_rule = [pl.col(name) == rule[name] for name in RULE]
    return rates.filter(*is_rule).select("launch", "per_sender_Bps")


@fact
def b_eff_curves(facts: Facts) -> pl.DataFrame:
    """One row per series, length and kind of pattern ('rings' or 'random'), sorted.

    Columns are those of `nhalf.results.b_eff.average.curves`, in bytes per second, and `series`.
    """
    points = average.curves(average.rates(facts.measurements))
    points = points.with_columns(algorithm=pl.lit("native"), axes=pl.lit(""))
    return with_series(points, facts)
