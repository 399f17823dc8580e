# SPDX-License-Identifier: Apache-2.0
"""The destination rule with the lowest throughput, against the one with the highest."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.results.traffic.accepted import OVER_LOADS, launches, per_sender
from nhalf.statistics.intervals import Interval

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
