"""Panels on how sure the numbers are: intervals, launches and the environment."""

import math
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.numbers import MISSING, format_number, half_width_text, percent, span, times
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.precision import POINT, deviations, missed
from nhalf.facts.series import full_name, series_names
from nhalf.facts.tails import tail_overview
from nhalf.present.charts import common
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell, count, quantile_name, quantile_span, texts
from nhalf.statistics.tails import QUANTILES
from nhalf.store.environment import flat

LAUNCHES_MAX, LAUNCHES_MIN = 24, 6
"""More launches than the first are thinned to evenly spaced ones per point; the spread stays whole.

Several patterns share them, but each keeps the second.
"""
USUAL_FACTOR = 1.8
"""The axis reaches this many times what nine in ten launches stay below."""


class LaunchSpread(Panel[Facts]):
    title = "Spread between launches"
    how_to_read = (
        "Each dot is one launch, placed by the deviation of its median from the median of all "
        "launches at that size: tight columns around 0 % mean that a single run can be trusted, "
        "and dots at an edge lie further out."
    )
    order = 42

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = deviations(facts)
        if points.is_empty():
            return None
        points = _some(common.thin(points, ["series", "pattern"]))
        rows = [
            {
                **common.pick(row, "series", "pattern", "bytes", "launch"),
                **texts(row, size="bytes", time="median_s"),
                "deviation": common.digits(row["deviation"], 4),
            }
            for row in points.iter_rows(named=True)
        ]
        patterns = sorted(points["pattern"].unique())
        names = series_names(facts)
        x = common.size_axis()
        color = alt.Color("series:N", scale=alt.Scale(domain=names), legend=None)
        base = alt.Chart().transform_filter(common.only_shown()).encode(x=x, color=color)
        scale = alt.Scale(domain=_range(points), nice=False, clamp=True)
        axis = alt.Axis(labelExpr="format(datum.value * 100, '+~r') + ' %'", tickCount=6)
        deviation = alt.Y("deviation:Q", title="from the median launch", scale=scale, axis=axis)
        span = base.mark_rule(strokeWidth=6, opacity=0.16).encode(
            y="min(deviation):Q", y2="max(deviation):Q"
        )
        titles = {"series": "library", "size": "size", "launch": "launch"}
        titles |= {"time": "median of the launch", "deviation": "from the median"}
        dots = base.mark_point(filled=True, size=22, opacity=0.75).encode(
            y=deviation,
            tooltip=common.tooltip(rows, **titles),
        )
        layers = alt.layer(span, dots, data=common.data_of(rows))
        return common.facets(layers, rows, names).add_params(common.pattern_choice(patterns))


def _range(points: pl.DataFrame) -> list[float]:
    """Choose the ends of the axis: most deviations, without the one launch that was far slower."""
    deviations = sorted(points["deviation"].abs().to_list())
    usual = deviations[len(deviations) * 9 // 10]
    reach = max(0.02, min(USUAL_FACTOR * usual, deviations[-1]))
    return [-min(1.0, float(f"{reach:.2g}")), float(f"{reach:.2g}")]


def _some(points: pl.DataFrame) -> pl.DataFrame:
    """A part of the launches of each size, with the outermost."""
    deviation = pl.col("deviation")
    most = max(LAUNCHES_MIN, LAUNCHES_MAX // max(1, points["pattern"].n_unique()))
    step = (pl.len().over(POINT) / most).ceil()
    return points.filter(
        (pl.int_range(pl.len()).over(POINT) % step == 0)
        | (deviation == deviation.min().over(POINT))
        | (deviation == deviation.max().over(POINT))
    )


POINTS_MAX = 10


class IntervalWidth(Panel[Facts]):
    title = "Points below the requested precision"
    how_to_read = (
        "The ten points farthest from the run's target precision, widest first: read their "
        "numbers with their interval, or measure again with more time or more launches."
    )
    order = 80

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            **{"library": "series", "pattern": full_name, "size": "bytes", "time": "median_s"},
            "half-width": lambda row: half_width_text(row["half_width"]),
            **{"launches": "launches", "warnings": "advice"},
        }
        return Table.of(missed(facts).to_dicts(), columns, POINTS_MAX)


class SlowestSamples(Panel[Facts]):
    title = "Slowest samples"
    how_to_read = (
        "Of 95, 99 and 99.9 % of the samples none took longer than this, at the smallest size of "
        "each curve: programs in which all ranks wait for the slowest one meet the last columns."
    )
    order = 41

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            **{"library": "series", "pattern": full_name, "size": "bytes", "median": "median_s"},
            **{quantile_name(q): _quantile(q) for q in QUANTILES if q > 0.5},
            "99 % of the median": lambda row: times(row["of_median"]),
        }
        return Table.of(tail_overview(facts), columns, POINTS_MAX)


def _quantile(q: float) -> Callable[[Row], str]:
    """What makes the cell of a quantile: its time with its interval; '–' if it is not known."""

    def cell(row: Row) -> str:
        of_q = [item for item in row["quantiles"] if item["q"] == q]
        if not of_q:
            return MISSING
        interval = quantile_span(of_q[0]["low_s"], of_q[0]["high_s"])
        return f"{format_time(of_q[0]['time_s'])} ({interval})"

    return cell


class StartTimes(Panel[Facts]):
    title = "Start of a launch"
    how_to_read = (
        "What a launch costs before its first message: from starting the launcher until all ranks "
        "are ready to be asked; a budget has more launches where this is short."
    )
    order = 88

    def render(self, facts: Facts) -> Table | None:
        runs = facts.started
        rows = [
            [run, facts.titles.get(subject, subject), str(ranks), placement, *_numbers(times_s)]
            for run, starts in runs.items()
            for (subject, ranks, placement), launches in sorted(starts.items(), key=lambda x: x[0])
            if (times_s := [launch.start_s for launch in launches if launch.start_s is not None])
        ]
        columns = ["run", "library", "ranks", "placement", "launches", "median", "range"]
        first = 0 if len(runs) > 1 else 1
        return Table(columns[first:], [row[first:] for row in rows]) if rows else None


def _numbers(times_s: list[float]) -> list[str]:
    """How many launches, their median and their range."""
    ends = span(min(times_s), max(times_s), format_time) if len(times_s) > 1 else MISSING
    return [str(len(times_s)), format_time(median(times_s)), ends]


ROWS_MAX = 60
BOOKKEEPING = ("blocks", "draws_cores", "hosts_found", "launches_fixed", "looks", "precision")
"""What a plan holds for nhalf itself, or what is put in words here."""


class Environment(Panel[Facts]):
    title = "Environment"
    how_to_read = (
        "What the numbers depend on: repeat a measurement elsewhere and compare this list first."
    )
    order = 90

    def render(self, facts: Facts) -> Table | None:
        runs = {run: dict(_environment(values)) for run, values in facts.environments.items()}
        keys = list(dict.fromkeys(key for values in runs.values() for key in values))
        if not keys:
            return None
        rows = [
            [key, *(values.get(key, MISSING) for values in runs.values())]
            for key in keys[:ROWS_MAX]
        ]
        if len(keys) > ROWS_MAX:
            rows.append([f"and {len(keys) - ROWS_MAX} more in run.json", *("" for _ in runs)])
        return Table(["", *runs], rows)


def _environment(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The environment, then what was asked for, without the bookkeeping of a plan."""
    yield from flat({name: value for name, value in environment.items() if name != "plan"})
    plan = environment.get("plan")
    if not isinstance(plan, Mapping):
        return
    yield from flat(
        {name: value for name, value in plan.items() if name not in BOOKKEEPING}, "plan"
    )
    precision = plan.get("precision")
    if isinstance(precision, int | float) and math.isfinite(precision) and precision > 0:
        yield "plan precision", f"{format_number(precision * 100)} %"
    for place, block in enumerate(plan.get("blocks") or (), 1):
        yield f"plan part {place}", _part(block)


def _part(block: Mapping[str, Any]) -> str:
    """'pingpong, exchange; 2 ranks; 0:4M bytes; cores': what is measured, without defaults."""
    ranks = [str(number) for number in block.get("ranks", ())]
    axes = [f"{name} {text}" for name, text in block.get("axes", {}).items()]
    launches = block.get("launches")
    parts = [
        ", ".join(block.get("patterns", ())),
        f"{', '.join(ranks)} {'rank' if ranks == ['1'] else 'ranks'}" if ranks else "",
        f"{block['bytes']} bytes" if block.get("bytes") else "",
        ", ".join(block.get("placements", ())),
        *axes,
        ", ".join(block.get("settings") or ()),
        ", ".join(block.get("transports") or ()),
        count(launches, "launch", "launches") if launches else "",
        f"precision {percent(block['precision'])}" if block.get("precision") else "",
    ]
    return "; ".join(filter(None, parts))
