# SPDX-License-Identifier: Apache-2.0
"""The rule of destinations under which least gets through, against the one with most."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.facts.contests import beyond
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label
from nhalf.present.charts import common
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import COSTLY, between, times, weight
from nhalf.results.traffic.accepted import (
    OVER_LOADS,
    PATTERN,
    launches,
    per_sender,
    rule_name,
    setting_name,
)

RULE = ("to", "distance")


class Traffic(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        crowded = pl.col("advice").list.contains("oversubscribed")
        rates = per_sender(launches(data.measurements.filter(~crowded)))
        settings = [name for name in OVER_LOADS if name not in RULE]
        found = [_worst(frame, data) for _, frame in rates.group_by(settings, maintain_order=True)]
        worst = [finding for finding in found if finding is not None]
        # One per library: the setting in which the rule matters most.
        by_library: dict[str, Finding] = {}
        for finding in sorted(worst, key=lambda one: -one.value):
            by_library.setdefault(finding.mpi, finding)
        yield from by_library.values()


def _worst(rates: pl.DataFrame, data: Facts) -> Finding | None:
    """The rule that suffers most in one setting, if that is beyond doubt."""
    middles = rates.group_by(RULE, maintain_order=True).agg(pl.col("per_sender_Bps").median())
    ordered = middles.drop_nulls().sort("per_sender_Bps", *RULE)
    if ordered.height < 2:
        return None
    slow, fast = ordered.row(0, named=True), ordered.row(-1, named=True)
    pairs = _of(rates, slow).join(_of(rates, fast), on="launch", suffix="_fast").sort("launch")
    ratios = (pairs["per_sender_Bps_fast"] / pairs["per_sender_Bps"]).to_list()
    interval = beyond(ratios, COSTLY)
    if interval is None:
        return None
    row = rates.row(0, named=True)
    name = library_label(data, row["transport"], row["mpi"])
    return Finding(
        f"{name}, {row['ranks']} processes, {setting_name(row)} messages under full load: by "
        f"{_choice(slow)} each sender gets through {times(interval.median)} less than by "
        f"{_choice(fast)} ({between(interval)}).",
        importance=weight(interval.median, 42, 66),
        kind="traffic-rule",
        label="Traffic",
        value=interval.median,
        low=interval.low,
        high=interval.high,
        mpi=row["mpi"],
        pattern=PATTERN,
        size_bytes=row["bytes"],
    )


def _choice(rule: common.Row) -> str:
    """How a sender finds its destinations: 'uniform choice', 'cube 4'."""
    return "uniform choice" if rule["to"] == "uniform" else rule_name(rule)


def _of(rates: pl.DataFrame, rule: common.Row) -> pl.DataFrame:
    same = [pl.col(name) == rule[name] for name in RULE]
    return rates.filter(*same).select("launch", "per_sender_Bps")
