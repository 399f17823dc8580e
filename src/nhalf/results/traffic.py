"""The accepted share of an offered load, and the load from which it falls below 100 %.

All rates are totals over all ranks. A launch first measures the throughput without pauses
(saturated); the load of a point is a percentage of it, and the point's schedule lasts as long as
its bytes take at that rate (offered). The accepted rate is bytes moved over the time they took.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.base.numbers import format_number, percent, share_span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size
from nhalf.results import Column, Result
from nhalf.statistics.intervals import Interval, launch_interval
from nhalf.store.keys import RUN_SUBJECT, axis, value


def _percent(load_percent: float) -> str:
    return percent(load_percent / 100)


def _parts(row: Row) -> str:
    """' (on-node 1.2 GB/s, off-node 3 GB/s)' if the traffic has both parts."""
    share = row.get("on_node_share")
    if share is None or not 0 < share < 1:
        return ""
    parts = (format_rate(part * row["saturated_Bps"]) for part in (share, 1 - share))
    return " (on-node {}, off-node {})".format(*parts)


PATTERN = "traffic"


class Traffic(Result):
    """One row per library, ranks, placement, destination rule, size and laws."""

    title = "Traffic"
    patterns = frozenset({PATTERN})
    parts = patterns
    columns = (
        Column("rule", "to"),
        Column("setting", "mean size"),
        Column("senders", "senders"),
        Column("saturated_Bps", "without pauses", format_rate),
        Column("on_node_share", "on-node", percent),
        Column("saturation_percent", "saturated from", _percent),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per curve over loads: the members from `accepted`, and two names."""
        return [
            {**row, "rule": rule_name(row), "setting": setting_name(row)}
            for row in traffic(measurements)
        ]

    def line(self, row: Row) -> str:
        """The throughput, and the load from which not all of it is accepted."""
        rule, setting, _, saturated, *_ = (column.cell(row) for column in self.columns)
        destinations = "to uniform ranks" if row["rule"] == "uniform" else f"by {rule}"
        summary = f"{self.title} {destinations}, {setting}: {saturated} without pauses{_parts(row)}"
        if row["missing"]:
            return f"{summary}; {row['missing']}"
        point = _percent(row["saturation_percent"])
        if row["saturation_percent"] <= min(load["load_percent"] for load in row["loads"]):
            return f"{summary}, not all of it is accepted even at {point}"
        low, high = row.get("saturation_percent_ci", (None, None))
        interval = "" if low is None else f" (interval {share_span(low / 100, high / 100)})"
        return f"{summary}, accepted up to {point} of that{interval}"


FALLBACKS = {
    "to": "uniform",
    "distance": "highest",
    "size_law": "exponential",
    "gap_law": "exponential",
    "seed": "1",
    "scope": "all",
}
"""The axes besides the load, with the values that are omitted (patterns/traffic/traffic.hpp)."""
STAGED = ("butterfly", "cube", "baseline")
"""Rules that need a distance."""

OVER_LOADS = (*RUN_SUBJECT, *FALLBACKS, "bytes")
"""The subject of a curve over loads; loads are percentages, 0 for a point without pauses."""
VALUES = (
    *("messages", "senders", "saturated_Bps", "offered_Bps", "delay_s", "last_delay_s"),
    "on_node_share",
)
WITH_INTERVAL = ("accepted_Bps", "accepted_share", "delay_s")
FORMER_DISTANCE = "2"
"""The meaning of an omitted distance in probes of version 0.1, which report no share."""

ACCEPTED = 0.95
"""Traffic is saturated from the load on at which less than this share is accepted."""


def launches(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per curve over loads, load and launch, sorted; usable points only.

    Columns OVER_LOADS, `load_percent`, `launch`, VALUES, `accepted_Bps`, `accepted_share` (null at
    load 0, at which nothing was offered).
    """
    rate = pl.col("accepted_Bps")
    return (
        measurements.filter(pl.col("pattern") == PATTERN, "verified")
        .select(
            *RUN_SUBJECT,
            *(axis(name).fill_null(_fallback(name)) for name in FALLBACKS),
            "bytes",
            "launch",
            axis("load").fill_null("0").cast(pl.Float64, strict=False).alias("load_percent"),
            *(value(name) for name in VALUES),
            accepted_Bps=pl.col("bytes_per_time") / pl.col("samples_s").list.median(),
        )
        .filter(rate.is_finite(), rate > 0, pl.col("load_percent").is_not_null())
        .group_by(*OVER_LOADS, "load_percent", "launch")
        .agg(pl.col(*VALUES, "accepted_Bps").median())
        .with_columns(accepted_share=rate / pl.col("offered_Bps"))
        .sort(*OVER_LOADS, "load_percent", "launch")
        .collect()
    )


def _fallback(name: str) -> pl.Expr:
    """The value of an omitted axis, as defined by the probe that measured the point."""
    if name != "distance":
        return pl.lit(FALLBACKS[name])
    former = value("on_node_share").is_null()
    return pl.when(former).then(pl.lit(FORMER_DISTANCE)).otherwise(pl.lit(FALLBACKS[name]))


def curves(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per curve and load with pseudomedians over launches, `NAME_low` and `NAME_high`.

    NAME is `accepted_Bps`, `accepted_share` and `delay_s`; others are medians.
    """
    keys = [*OVER_LOADS, "load_percent"]
    curve_rows: list[Row] = []
    for key, points in rows.group_by(keys, maintain_order=True):
        row: Row = dict(zip(keys, key, strict=True)) | {"launches": points.height}
        row |= {name: points[name].median() for name in VALUES if name not in WITH_INTERVAL}
        for name in WITH_INTERVAL:
            interval = _interval(points[name].drop_nulls().to_list())
            row[name] = interval.median if interval else None
            row[f"{name}_low"] = interval.low if interval else None
            row[f"{name}_high"] = interval.high if interval else None
        if row["accepted_share"] is not None:
            # No round ends before its schedule does, whatever the interval of a few launches says.
            row["accepted_share_high"] = min(
                row["accepted_share_high"], max(1, row["accepted_share"])
            )
        curve_rows.append(row)
    return pl.DataFrame(curve_rows, infer_schema_length=None)


def traffic(measurements: pl.LazyFrame) -> list[Row]:
    """One row per curve; see docs/many-ranks.md for its members."""
    rows = launches(measurements)
    of_curve = curves(rows).partition_by(OVER_LOADS, as_dict=True) if rows.height else {}
    return [
        {**dict(zip(OVER_LOADS, key, strict=True)), **_row(points, of_curve[key])}
        for key, points in rows.partition_by(OVER_LOADS, maintain_order=True, as_dict=True).items()
    ]


def rule_name(row: Row) -> str:
    """The destination rule in words: 'uniform', 'cube 4', 'cube, all stages'."""
    if row["to"] not in STAGED:
        return str(row["to"])
    words = {"highest": "{}, highest stage", "all": "{}, all stages"}
    return words.get(row["distance"], f"{{}} {row['distance']}").format(row["to"])


def setting_name(row: Row) -> str:
    """Mean size and deviations from the default: '16 KiB' or '16 KiB, fixed sizes, on-node'."""
    parts = [format_size(row["bytes"])]
    laws = {"size_law": "{} sizes", "gap_law": "{} pauses", "scope": "{}", "seed": "seed {}"}
    for name, words in laws.items():
        if row[name] != FALLBACKS[name]:
            parts.append(words.format(row[name]))
    return ", ".join(parts)


def per_sender(rows: pl.DataFrame) -> pl.DataFrame:
    """Saturated rate per rank that sends: one row per curve and launch, `per_sender_Bps`."""
    rate = (pl.col("saturated_Bps") / pl.col("senders")).median()
    return rows.group_by(*OVER_LOADS, "launch", maintain_order=True).agg(per_sender_Bps=rate)


def saturation_percent(loads: Sequence[float], shares: Sequence[float]) -> float | None:
    """The load at which the accepted share falls below ACCEPTED; None if it does not.

    `loads` increase. Between two loads the share is interpolated linearly; if it is too low at the
    first load already, that load is the result.
    """
    points = list(zip(loads, shares, strict=True))
    if points and points[0][1] < ACCEPTED:
        return points[0][0]
    for (load, share), (next_load, next_share) in itertools.pairwise(points):
        if next_share < ACCEPTED:
            return load + (next_load - load) * (share - ACCEPTED) / (share - next_share)
    return None


def _row(rows: pl.DataFrame, curve: pl.DataFrame) -> Row:
    """The values of one curve from its launches and its loads."""
    by_launch = rows.group_by("launch", maintain_order=True).agg(pl.col("saturated_Bps").median())
    saturated = _interval(by_launch["saturated_Bps"].drop_nulls().to_list())
    offered = rows.filter(pl.col("accepted_share").is_not_null())
    points = [
        saturation_percent(
            of_launch["load_percent"].to_list(), of_launch["accepted_share"].to_list()
        )
        for of_launch in offered.partition_by("launch", maintain_order=True)
    ]
    return {
        "launches": by_launch.height,
        "messages": _whole(rows["messages"].median()),
        "senders": _whole(rows["senders"].median()),
        "on_node_share": rows["on_node_share"].median(),
        **_members("saturated_Bps", saturated, by_launch.height),
        **_saturation(points, offered["load_percent"].to_list()),
        "loads": [_load(row) for row in curve.iter_rows(named=True)],
        "missing": _missing(offered, points),
    }


def _saturation(points: Sequence[float | None], loads: Sequence[float]) -> Row:
    """The saturation point, if most launches reach it; its interval within the offered loads."""
    reached = [point for point in points if point is not None]
    if 2 * len(reached) <= len(points):
        return {"saturation_percent": None}
    row = _members("saturation_percent", _interval(reached), len(reached))
    if "saturation_percent_ci" in row:
        ends = np.clip(row["saturation_percent_ci"], min(loads), max(loads))
        row["saturation_percent_ci"] = [float(end) for end in ends]
    return row


def _missing(offered: pl.DataFrame, points: Sequence[float | None]) -> str:
    if offered.is_empty():
        return "no load was offered: give --axis load=25,50,100"
    if sum(point is not None for point in points) * 2 <= len(points):
        highest = format_number(float(np.max(offered["load_percent"].to_numpy())))
        return f"it is not saturated at {highest} % of its load: offer more with --axis load"
    return ""


def _load(row: Row) -> Row:
    members = {name: row[name] for name in ("load_percent", "offered_Bps", "last_delay_s")}
    share = row["on_node_share"]
    if share is not None:
        members["on_node_accepted_Bps"] = share * row["accepted_Bps"]
        members["off_node_accepted_Bps"] = (1 - share) * row["accepted_Bps"]
    for name in WITH_INTERVAL:
        members[name] = row[name]
        if row["launches"] > 1 and row[name] is not None:
            members[f"{name}_ci"] = [row[f"{name}_low"], row[f"{name}_high"]]
    return members


def _interval(values: Sequence[float]) -> Interval | None:
    """The interval of those values that are finite: a batch of no time has no rate."""
    finite = [value for value in values if math.isfinite(value)]
    return launch_interval(finite) if finite else None


def _members(name: str, interval: Interval | None, count: int) -> Row:
    """A value, with its interval if there are several launches."""
    if interval is None:
        return {name: None}
    ends = {f"{name}_ci": [interval.low, interval.high]} if count > 1 else {}
    return {name: interval.median, **ends}


def _whole(number: object) -> int | None:
    return round(number) if isinstance(number, float) else None
