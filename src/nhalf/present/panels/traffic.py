"""Panels on traffic between many ranks at once, and on who suffers beside it."""

from collections.abc import Iterator
from dataclasses import replace

import altair as alt
import polars as pl

from nhalf.base.numbers import percent, share_span, span, times
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names, with_names
from nhalf.facts.traffic import (
    DENSE,
    FANS,
    VICTIM,
    CongestedOperation,
    b_eff_curves,
    congested,
    fans,
    offered_and_accepted,
    phases,
)
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines, with_some_sizes
from nhalf.present.charts.ratios import dots, ratio_axis, ratio_domain
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import interval_of, texts
from nhalf.results.b_eff import PATTERN as B_EFF_CURVES_PATTERN
from nhalf.results.b_eff import EffectiveBandwidth
from nhalf.results.traffic import PATTERN as TRAFFIC_PATTERN
from nhalf.results.traffic import rule_name, setting_name

SETTING_TITLE = "Mean size "


def traffic_rows(facts: Facts) -> list[Row]:
    """Make a row for each series, setting, rule and load; rates are per sending rank."""
    return [_load_row(row) for row in offered_and_accepted(facts).iter_rows(named=True)]


def rules_of(rows: list[Row]) -> list[str]:
    """The rules that are drawn, uniform first."""
    return sorted({row["kind"] for row in rows}, key=lambda name: (name != "uniform", name))


def tooltip(rows: list[Row]) -> list[alt.Tooltip]:
    """What is said of a load."""
    titles = {"series": "library", "kind": "to", "load": "load, % of saturation"}
    titles |= {"offered_text": "offered, per sender", "accepted_text": "accepted, per sender"}
    titles |= {"share": "of what was offered", "delay_text": "delay"}
    return common.tooltip(rows, **titles)


def _load_row(row: Row) -> Row:
    offered, accepted = "offered_per_sender_Bps", "accepted_per_sender_Bps"
    share = percent(row["accepted_share"])
    if row["launches"] > 1:
        share += f" ({share_span(row['accepted_share_low'], row['accepted_share_high'])})"
    return {
        **{"series": row["series"], "kind": rule_name(row), "setting": setting_name(row)},
        **{"load": row["load_percent"], "share": share},
        **{"offered": common.digits(row[offered]), "accepted": common.digits(row[accepted])},
        "delay": common.digits(row["delay_s"]) if row["delay_s"] else None,
        **texts(row, offered_text=offered, accepted_text=accepted, delay_text="delay_s"),
    }


class Traffic(Panel[Facts]):
    title = "Accepted traffic"
    how_to_read = (
        "To the right the processes offer more load, upwards more is accepted: on the dashed line "
        "it is all of it, and where a line leaves it the machine is saturated; each line is one "
        "rule that assigns destinations, and a lower level means more contention."
    )
    order = 56
    patterns = (TRAFFIC_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = traffic_rows(facts)
        if not rows:
            return None
        most = max(row["offered"] for row in rows)
        diagonal = (
            alt.Chart()
            .mark_rule(strokeDash=[4, 4], opacity=0.6, clip=True)
            .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(most), y2=alt.datum(most))
        )
        axis = alt.Axis(labelExpr=common.RATE_LABEL, labelOverlap=True, tickCount=5)
        return lines(
            rows,
            (
                alt.X("offered:Q", title="offered, per sending process", axis=axis),
                alt.Y("accepted:Q", title="accepted, per sending process", axis=axis),
            ),
            kinds=rules_of(rows),
            facets=("series", series_names(facts)),
            tooltip=tooltip(rows),
            choice=("setting", SETTING_TITLE),
            behind=[diagonal],
        )


class TrafficDelay(Panel[Facts]):
    title = "Waiting time under traffic"
    how_to_read = (
        "The mean time that a message waits until its process sends it, because earlier "
        "messages are still being sent and received: short at a low load, it grows steeply where "
        "the machine is nearly saturated, at 100 %; a program whose load lies left of the steep "
        "part has room to spare."
    )
    order = 57
    patterns = (TRAFFIC_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for row in traffic_rows(facts) if row["delay"] is not None]
        if not rows:
            return None
        delay = common.log_axis("delay", "mean waiting time", rows, common.TIME_LABEL)
        axis = alt.Axis(values=sorted({row["load"] for row in rows}), labelOverlap=True)
        load = alt.X(
            "load:Q", title="offered load, % of what goes through without pauses", axis=axis
        )
        return lines(
            rows,
            (load, delay),
            kinds=rules_of(rows),
            facets=("series", series_names(facts)),
            tooltip=tooltip(rows),
            choice=("setting", SETTING_TITLE),
        )


FAN_KINDS = {
    "one-to-many": "one to many",
    "many-to-one": "many to one",
    "many-to-many": "many to many",
}
OWN = "one to many, the one's own time"
"""The time of rank 0 until its last message is sent, without waiting for other ranks."""


class Fan(Panel[Facts]):
    title = "One to many, many to one"
    how_to_read = (
        "The cost of each message for the busiest process: the time of a round divided by the "
        "messages that one process sends or receives in it; many to one far above one to many "
        "means that receiving is the bottleneck, many to many above both means contention, and the "
        "one's own time below one to many shows how much earlier it is free again."
    )
    order = 64
    patterns = FANS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = fans(facts)
        if points.is_empty():
            return None
        rows = _fan_rows(common.thin(points, ["series", "pattern"]))
        time_axis = common.log_axis("per_message", "time per message", rows, common.TIME_LABEL)
        shown_kinds = {row["kind"] for row in rows}
        titles = {"series": "library", "kind": "traffic", "size": "size", "words": "per message"}
        titles |= {"round": "whole round", "rate": "rate of all"}
        titles |= {"interval": "95 % interval of the round"}
        return lines(
            rows,
            (common.size_axis(), time_axis),
            kinds=[kind for kind in (*FAN_KINDS.values(), OWN) if kind in shown_kinds],
            facets=("series", series_names(facts)),
            tooltip=common.tooltip(rows, **titles),
        )


def _fan_rows(points: pl.DataFrame) -> list[Row]:
    rows = []
    for row in points.iter_rows(named=True):
        rows.append(_row(row, FAN_KINDS[row["pattern"]], row["median_s"]))
        if row["pattern"] == "one-to-many" and (row["root_s"] or 0) > 0:
            rows.append(_row(row, OWN, row["root_s"]) | {"interval": "none"})
    return rows


def _row(row: Row, kind: str, round_s: float) -> Row:
    """A point of the chart from the time of a round."""
    per_message_s = row["per_message_s"] * round_s / row["median_s"]
    return {
        **{"series": row["series"], "kind": kind, "bytes": row["bytes"]},
        **{"size": format_size(row["bytes"]), "words": format_time(per_message_s)},
        "per_message": common.digits(per_message_s),
        "round": format_time(round_s),
        "rate": format_rate(row["rate_Bps"] or 0.0),
        "interval": interval_of(row),
    }


PATTERNS = {
    "dense-alltoall": "all to all, by distance",
    "dense-pairwise": "pairs, by distance",
    "dense-cumulative": "pairs, by their number",
    "dense-random": "random pairs",
}


class Dense(Panel[Facts]):
    title = "Dense traffic by phase"
    how_to_read = (
        "The sending rate of each participating process while all of them communicate; partners "
        "differ from phase to phase (one rank further, one pair more, or random); processes "
        "without a partner wait and are not counted, so a phase below the others is one whose "
        "partners share a bottleneck."
    )
    order = 65
    patterns = DENSE

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = phases(facts)
        if points.is_empty():
            return None
        shown = with_some_sizes(points).sort("bytes", "series", "pattern", "phase")
        rows = [
            {
                **common.pick(row, "series", "phase"),
                **texts(row, kind="bytes", words="each_Bps", all="rate_Bps"),
                "pattern": PATTERNS[row["pattern"]],
                "rate": common.digits(row["each_Bps"]),
                "active": f"{row['active']} of {row['ranks']}",
                "interval": interval_of(row),
            }
            for row in shown.iter_rows(named=True)
        ]
        rate = common.log_axis("rate", "rate of one process", rows, common.RATE_LABEL)
        titles = {"series": "library", "phase": "phase", "kind": "size"}
        titles |= {"active": "processes taking part", "words": "each of these"}
        titles |= {"all": "all together", "interval": "95 % interval of the time"}
        return lines(
            rows,
            (count_axis(rows, "phase", "phase"), rate),
            facets=("pattern", list(PATTERNS.values())),
            tooltip=common.tooltip(rows, **titles),
            choice=("series", "Library"),
        )


class BEff(Panel[Facts]):
    title = "Effective bandwidth (b_eff)"
    how_to_read = (
        "One number for a whole machine: all processes send to two neighbours at once, and the "
        "rate is averaged over short and long messages and over near and far neighbours, so that "
        "higher is better and machines of different size compare by the number per process."
    )
    order = 70

    def render(self, facts: Facts) -> Table | None:
        averages = with_names(facts.results.get("b_eff", []), facts)
        if not averages:
            return None
        columns = [
            replace(column, with_interval=True)
            for column in EffectiveBandwidth.columns
            if any(row.get(column.name) is not None for row in averages)
        ]
        cells = [
            [row["series"], str(row["ranks"]), *(column.cell(row) for column in columns)]
            for row in averages
        ]
        titles = ["library", "processes", *(column.title for column in columns)]
        if any(row["missing"] for row in averages):
            titles.append("what is missing")
            cells = [[*line, row["missing"]] for line, row in zip(cells, averages, strict=True)]
        return Table(titles, cells)


B_EFF_CURVES_KINDS = {"rings": "rings of neighbours", "random": "random orders"}
LEGEND = alt.Legend(title=None, symbolFillColor="gray", symbolStrokeColor="gray", symbolSize=110)


class BEffCurves(Panel[Facts]):
    title = "Bandwidth of all processes together"
    how_to_read = (
        "Higher is faster: the rate at which all processes together exchange messages with two "
        "neighbours, by the best method at each length; the further a dashed line lies below the "
        "solid one, the more it costs when neighbours are spread at random over the machine."
    )
    order = 71
    patterns = (B_EFF_CURVES_PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = b_eff_curves(facts)
        if points.is_empty():
            return None
        rows = [
            {
                **common.pick(row, "series", "bytes"),
                **texts(row, size="bytes", text="rate_Bps"),
                "kind": B_EFF_CURVES_KINDS[row["kind"]],
                "rate": common.digits(row["rate_Bps"]),
                **common.drawn_ends(row["low_Bps"], row["rate_Bps"], row["high_Bps"]),
                "interval": span(row["low_Bps"], row["high_Bps"], format_rate)
                if row["launches"] > 1
                else "none (needs several launches)",
            }
            for row in points.iter_rows(named=True)
        ]
        names = sorted({row["series"] for row in rows})
        picked = common.highlight()
        rate_axis = common.log_axis("rate", "rate, all processes", rows, common.RATE_LABEL)
        kinds = alt.Scale(domain=list(B_EFF_CURVES_KINDS.values()))
        base = alt.Chart().encode(
            x=common.size_axis("length of a message"), color=common.color(names)
        )
        y = alt.Y("low:Q", scale=common.LOG_SCALE)
        opacity = common.faded(picked, 0.16)
        band = base.mark_area().encode(y=y, y2="high:Q", detail="kind:N", opacity=opacity)
        line = base.mark_line(strokeWidth=2).encode(
            y=rate_axis,
            strokeDash=alt.StrokeDash("kind:N", title=None, scale=kinds, legend=LEGEND),
            opacity=common.faded(picked, 1),
        )
        titles = {"series": "library", "kind": "neighbours", "size": "length", "text": "rate"}
        titles |= {"interval": "95 % interval of a launch"}
        marks = base.mark_point(filled=True, size=38).encode(
            y=rate_axis,
            shape=alt.Shape("kind:N", title=None, scale=kinds, legend=LEGEND),
            opacity=common.faded(picked, 1),
            tooltip=common.tooltip(rows, **titles),
        )
        return common.wide(alt.layer(band, line, marks, data=common.data_of(rows)), picked)


VICTIM_KINDS = ("all operations", "slowest 1 %")


class Victims(Panel[Facts]):
    title = "Who suffers beside a load"
    how_to_read = (
        "How many times as long an operation of some ranks takes while the others load the "
        "network, per kind of load, as in quiet (dashed line): the median of all operations, and "
        "the slowest 1 % of them against the slowest 1 % in quiet; a tail far to the right of its "
        "median means that a few operations wait for very long."
    )
    order = 66
    patterns = (VICTIM,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for operation in congested(facts) for row in _victim_rows(operation)]
        if not rows:
            return None
        ends = [row[end] for row in rows for end in ("low", "high")]
        value = ratio_axis(ratio_domain(ends, len(rows) * 3), "as long as in quiet", alt.X)
        titles = {"victim": "victims", "name": "load", "kind": "of", "quiet": "in quiet"}
        titles |= {"loaded": "beside the load", "times": "times as long"}
        titles |= {"interval": "95 % interval"}
        return dots(
            rows, value, VICTIM_KINDS, common.tooltip(rows, **titles), ("victim", "Victims"), 1
        )


def _victim_rows(operation: CongestedOperation) -> Iterator[Row]:
    """A row for all operations, and one for the slowest."""
    size = format_size(operation.size_bytes)
    states = zip(
        VICTIM_KINDS,
        (operation.ratio, operation.tail_ratio),
        operation.quiet_s,
        operation.loaded_s,
        strict=True,
    )
    for kind, ratio, quiet_s, loaded_s in states:
        if ratio is None:
            continue
        yield {
            "victim": f"{operation.series}: {operation.of} of {size}, {operation.victims} of "
            f"{operation.ranks} ranks",
            "name": f"{operation.load} of {format_size(operation.load_bytes)}",
            "kind": kind,
            "quiet": _time(operation, quiet_s),
            "loaded": _time(operation, loaded_s),
            "times": times(ratio.median),
            "ratio": common.digits(ratio.median, 4),
            **common.drawn_ends(ratio.low, ratio.median, ratio.high, 4),
            "interval": span(ratio.low, ratio.high) if ratio.low < ratio.high else "none",
        }


def _time(operation: CongestedOperation, time_s: float) -> str:
    """The time of an operation; of a window of messages also the rate."""
    rate = format_rate(operation.size_bytes / time_s) if operation.of == "ring-window" else ""
    return f"{format_time(time_s)} per message, {rate}" if rate else format_time(time_s)
