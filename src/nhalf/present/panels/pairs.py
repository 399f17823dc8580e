"""Panels on pairs of ranks: their distance, and what they take from each other."""

import json
import math
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.numbers import format_number, span
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts import pairs
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, dashed_level, lines, some_sizes, with_some_sizes
from nhalf.present.charts.ratios import ratio_axis, ratio_domain
from nhalf.present.panels import Panel
from nhalf.present.wording import interval_of, texts
from nhalf.store.places import Place

LARGE_BYTES = 2**16
"""From this size on a cell shows the rate; below, the time."""
RANKS_WITH_TEXT = 8
"""This many ranks leave room for a number in each cell."""
RANKS_WITH_PLACES = 32
"""This many ranks leave room for where they are beside the matrix."""
HOST_LENGTH_MAX = 12
CELLS_MAX = 12_000
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
RATE_UNITS = (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0))


class Distance(Panel[Facts]):
    title = "Distance between processes"
    how_to_read = (
        "Each cell is a pair of processes, the darkest is the fastest pair: brighter cells are "
        "farther apart, and blocks of one colour share a processor, a memory or a host; choose a "
        "size to see times of small and rates of large messages."
    )
    order = 47
    patterns = (pairs.PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = pairs.distances(facts)
        if points["axes"].n_unique() < 2:
            return None
        sizes = some_sizes(points["bytes"].to_list())
        while len(sizes) > 2 and points.filter(pl.col("bytes").is_in(sizes)).height > CELLS_MAX:
            sizes = some_sizes(sizes, len(sizes) - 1)
        rows = [row for size in sizes for row in _distance_rows(points.filter(bytes=size), facts)]
        ranks = int(points.select(pl.max_horizontal("first", "second").max()).item()) + 1
        chart = _matrix(rows, _names(points, facts, ranks))
        series = {row["series"] for row in rows}
        order = [name for name in series_names(facts) if name in series]
        choices = list(dict.fromkeys(row["choice"] for row in rows))
        return (
            alt.layer(*chart, data=common.data_of(rows))
            .properties(width=common.FACET_WIDTH, height=common.CHART_HEIGHT - 40)
            .facet(alt.Facet("series:N", title=None, sort=order), columns=2)
            .transform_filter("datum.choice === chosen")
            .add_params(common.choice("chosen", choices, choices[0], "Size"))
        )


def _names(points: pl.DataFrame, facts: Facts, ranks: int) -> list[str]:
    """Name each rank beside the matrix, with its host or core if all runs agree."""
    numbers = [str(rank) for rank in range(ranks)]
    starts = points.unique(["run", "transport", "mpi", "ranks", "placement"]).to_dicts()
    places_by_start = [pairs.places_of(facts, start) for start in starts]
    if ranks > RANKS_WITH_PLACES or any(len(places) < ranks for places in places_by_start):
        return numbers
    where = {tuple(_short(places)[:ranks]) for places in places_by_start}
    if len(where) > 1:
        return numbers
    return [f"{number}{text}" for number, text in zip(numbers, where.pop(), strict=True)]


def _short(places: list[Place]) -> list[str]:
    """By rank ' · host' where there are several hosts, else ' · core N' where that is certain."""
    if len({place.host for place in places}) > 1:
        return [f" · {place.host.partition('.')[0][:HOST_LENGTH_MAX]}" for place in places]
    return [f" · core {place.cpu}" if place.pinned else "" for place in places]


def _matrix(rows: list[Row], names: list[str]) -> list[Any]:
    """Draw both halves of the matrix, with numbers where there is room."""
    ranks = len(names)
    ordered = sorted(row["ratio"] for row in rows)
    # A few far beyond the others have the last colour as well, or all others would look alike.
    most = max(common.COLOUR_FACTOR_MIN, ordered[-1 - len(ordered) // 20])
    color = common.heat_color("times the fastest pair", most)
    layers: list[Any] = []
    # What was measured in one direction only is drawn in both.
    halves = [("first", "second"), ("second", "first")]
    for x, y in halves[:1] if any(row["first"] > row["second"] for row in rows) else halves:
        base = alt.Chart().encode(x=_rank_axis(alt.X, x, names), y=_rank_axis(alt.Y, y, names))
        layers.append(base.mark_rect().encode(color=color, tooltip=_tooltip(rows)))
        if ranks <= RANKS_WITH_TEXT:
            dark = f"datum.ratio < {math.sqrt(most):.4g}"
            text = base.mark_text(fontSize=11).encode(
                text="text:N",
                color=alt.condition(dark, alt.value("#ffffff"), alt.value("#14181f")),
                tooltip=_tooltip(rows),
            )
            layers.append(text)
    return layers


def _rank_axis(channel: Any, field: str, names: list[str]) -> Any:
    """One axis of the matrix; there is room for names on the left only."""
    words = f"{json.dumps(names)}[datum.value]" if channel is alt.Y else "datum.value"
    scale = alt.Scale(domain=list(range(len(names))), padding=0.04)
    return channel(f"{field}:O", title="rank", scale=scale, axis=common.cell_axis(words))


def _tooltip(rows: list[Row]) -> list[alt.Tooltip]:
    return common.tooltip(
        rows,
        **{"series": "library", "first": "rank", "second": "and rank", "time": "time"},
        **{"rate": "rate", "interval": "95 % interval", "where": "where"},
    )


def _distance_rows(points: pl.DataFrame, facts: Facts) -> list[Row]:
    """Make the cells of one size: text, colour and tooltip."""
    size = points["bytes"][0]
    is_rate = size >= LARGE_BYTES
    middle_s = points["middle_s"][0]
    unit, factor = _unit(size / middle_s, RATE_UNITS) if is_rate else _unit(middle_s, UNITS)
    rows = []
    for row in points.sort("first", "second").iter_rows(named=True):
        shown = (size / row["median_s"] if is_rate else row["median_s"]) / factor
        rows.append(
            {
                **common.pick(row, "series", "first", "second"),
                "choice": f"{format_size(size)}: {'rate' if is_rate else 'time'} in {unit}",
                "ratio": common.digits(row["ratio"], 4),
                "text": format_number(shown),
                "time": format_time(row["median_s"]),
                "rate": format_rate(row["rate_Bps"] or 0.0) if size else "–",
                "interval": interval_of(row),
                "where": _where(pairs.places_of(facts, row), row["first"], row["second"]),
            }
        )
    return rows


def _unit(value: float, units: tuple[tuple[str, float], ...]) -> tuple[str, float]:
    """The largest unit in which a value is 1 or more."""
    return next((unit for unit in units if value >= unit[1]), units[-1])


def _where(places: list[Place], first: int, second: int) -> str:
    """'core 0 and core 1 of node7: same memory domain', or that it is unknown."""
    if max(first, second) >= len(places):
        return "not known"
    first_place, second_place = places[first], places[second]
    near = pairs.relation(first_place, second_place)
    return f"{_place(first_place)} and {_place(second_place)}: {near}"


def _place(place: Place) -> str:
    return f"core {place.cpu} of {place.host}" if place.pinned else f"some core of {place.host}"


class Load(Panel[Facts]):
    title = "Latency under load"
    how_to_read = (
        "The more pairs of processes communicate at once, the longer each may have to wait: 2× "
        "means that a message then takes twice the time of a single pair; a line that stays at 1× "
        "means that the pairs do not disturb each other."
    )
    order = 48
    patterns = (pairs.LATENCY,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        ratios = pairs.load_ratios(facts)
        if ratios.filter(pl.col("pairs") > 1).is_empty():
            return None
        shown = pairs.by_pairs(with_some_sizes(ratios)).sort("bytes", "series", "pairs")
        rows = [
            {
                **common.pick(row, "series", "pairs"),
                **texts(row, kind="bytes", time="time_s"),
                "ratio": common.digits(row["ratio"], 4),
                "interval": span(row["low"], row["high"])
                if row["launches"] > 1 and row["pairs"] > 1
                else "none",
            }
            for row in shown.iter_rows(named=True)
        ]
        domain = ratio_domain([row["ratio"] for row in rows])
        pairs_axis = count_axis(rows, "pairs", "pairs at once", doubling=True)
        titles = {"kind": "size", "time": "time", "ratio": "times one pair"}
        return lines(
            rows,
            (pairs_axis, ratio_axis(domain, "one pair's latency")),
            facets=("series", series_names(facts)),
            tooltip=common.tooltip(rows, "series", "pairs", **titles, interval="95 % interval"),
            behind=[dashed_level(1)],
        )


class LoadBandwidth(Panel[Facts]):
    title = "Bandwidth of many pairs"
    how_to_read = (
        "The aggregate rate of several pairs of processes: a line that doubles with the pairs has "
        "bandwidth to spare, and where it turns flat, or falls, the pairs compete for bandwidth."
    )
    order = 49
    patterns = (pairs.BANDWIDTH,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = pairs.rates_of_pairs(facts)
        if points.is_empty():
            return None
        rows = [
            {
                **common.pick(row, "series", "pairs"),
                **texts(row, kind="bytes", words="rate_Bps", each="each_Bps"),
                "rate": common.digits(row["rate_Bps"]),
                "interval": interval_of(row),
            }
            for row in with_some_sizes(points)
            .sort("bytes", "series", "pairs")
            .iter_rows(named=True)
        ]
        rate = common.log_axis("rate", "rate of all pairs", rows, common.RATE_LABEL)
        titles = {"kind": "size", "words": "all pairs", "each": "each pair"}
        titles["interval"] = "95 % interval of the time"
        return lines(
            rows,
            (count_axis(rows, "pairs", "pairs at once", doubling=True), rate),
            facets=("series", series_names(facts)),
            tooltip=common.tooltip(rows, "series", "pairs", **titles),
        )
