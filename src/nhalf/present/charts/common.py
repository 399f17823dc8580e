"""What every panel draws alike: axes, series names, marks and the thinning of long curves."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.wording import interval_of, texts

SIZES_PER_SERIES_MAX = 160
"""A curve with more sizes is thinned: more points than pixels only make the file larger."""
DRAWN_FACTOR = 4.0
"""Intervals are drawn up to this factor around the median: one of two launches may span decades,
and would flatten every curve. Tooltips and tables give the whole interval."""
BANDS_MAX = 4
"""With more curves, intervals are only bars: overlapping bands hide their curves."""
COLOUR_FACTOR_MIN = 1.25
"""Colours of ratios span at least this factor, so that noise does not look like a difference."""
FACET_WIDTH, FACET_HEIGHT, CHART_HEIGHT = 330, 210, 360

# Binary ticks: every fourth doubling, so that labels do not collide at usual widths.
SIZE_TICKS = [0, *(2**power for power in range(0, 41, 4))]
SIZE_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '~r') + ' GiB' : datum.value >= "
    "1048576 ? format(datum.value / 1048576, '~r') + ' MiB' : datum.value >= 1024 ? "
    "format(datum.value / 1024, '~r') + ' KiB' : format(datum.value, '~r') + ' B'"
)
_SI_LABEL = "replace(format(datum.value, '~s'), /([a-zµ]?)$/i, ' $1') + "
TIME_LABEL = _SI_LABEL + "'s'"
RATE_LABEL = _SI_LABEL + "'B/s'"
BYTES_LABEL = _SI_LABEL + "'B'"
# A chart is checked once, when it is whole, and not each of its parts before.
alt.utils.schemapi.disable_debug_mode()
LOG_SCALE = alt.Scale(type="log", nice=False, padding=8)


def thin(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """At most SIZES_PER_SERIES_MAX sizes for each combination of `keys`, first and last kept."""
    rank = pl.col("bytes").rank("dense").over(keys) - 1
    count = pl.col("bytes").n_unique().over(keys)
    step = (count / SIZES_PER_SERIES_MAX).ceil()
    return frame.filter((rank % step == 0) | (rank == count - 1)).sort(*keys, "bytes")


def digits(value: float, significant: int = 5) -> float | None:
    """A number as it goes into a specification: short, and never NaN, which JSON does not know."""
    return float(f"{value:.{significant}g}") if math.isfinite(value) else None


def drawn_ends(low: float, median: float, high: float, significant: int = 5) -> Row:
    """`low` and `high` of an interval as far as they are drawn."""
    return {
        "low": digits(max(low, median / DRAWN_FACTOR), significant),
        "high": digits(min(high, median * DRAWN_FACTOR), significant),
    }


def time_rows(points: pl.DataFrame) -> list[Row]:
    """Rows of a time chart from sound points with `series`."""
    return [
        {
            **pick(row, "series", "pattern", "bytes", "launches"),
            **texts(row, size="bytes", time="median_s"),
            "median": digits(row["median_s"]),
            **drawn_ends(row["low_s"], row["median_s"], row["high_s"]),
            "rate": format_rate(row["rate_Bps"] or 0.0),
            "interval": interval_of(row),
        }
        for row in points.iter_rows(named=True)
    ]


def pick(row: Row, *columns: str) -> Row:
    """Some columns of a row."""
    return {name: row[name] for name in columns}


TIP_FORMS = {
    **{"share": ".1%", "overlap": ".0%", "deviation": "+.1%"},
    **{"ratio": ".3~r", "speedup": ".3~r", "rate": ".3s"},
}
"""How numbers are written in tooltips, by the column's name; others with all their digits."""
USUAL_TITLES = {"series": "library", "interval": "95 % interval"}
"""Titles of columns in tooltips, where they are not the names of the columns."""


def tooltip(rows: Sequence[Row], *columns: str, **titles: str) -> list[alt.Tooltip]:
    """Columns of `rows` with their usual titles, then others, numbers in the form of their unit."""
    usual = {column: USUAL_TITLES.get(column, column) for column in columns}
    tips = []
    for name, title in {**usual, **titles}.items():
        value = next((row[name] for row in rows if row.get(name) is not None), "")
        kind, form = ("N", None) if isinstance(value, str) else ("Q", TIP_FORMS.get(name))
        tips.append(alt.Tooltip(f"{name}:{kind}", title=title, format=form or alt.Undefined))
    return tips


def facets(
    chart: Any, rows: Iterable[Row], names: Iterable[str], field: str = "series"
) -> alt.FacetChart:
    """A small chart for each of `names` that occur in a field of `rows`, two side by side."""
    values = {row[field] for row in rows}
    small = chart.properties(width=FACET_WIDTH, height=FACET_HEIGHT)
    order = [name for name in names if name in values]
    facetted: alt.FacetChart = small.facet(
        alt.Facet(f"{field}:N", title=None, sort=order), columns=2
    )
    return facetted


def kind_color(kinds: Any = alt.Undefined, **options: Any) -> alt.Color:
    """Colour by kind, with a legend without a title."""
    scale = alt.Undefined if kinds is alt.Undefined else alt.Scale(domain=list(kinds))
    legend = alt.Legend(title=None, symbolOpacity=1, labelLimit=320)
    return alt.Color("kind:N", title=None, scale=scale, legend=legend, **options)


def data_of(rows: list[Row]) -> alt.InlineData:
    """Rows as inline data: the report must not need a file or a server."""
    return alt.InlineData(values=rows)


def size_axis(title: str = "message size") -> alt.X:
    """The size axis: logarithmic, with 0 bytes at its own place one doubling left of 1 B."""
    scale = alt.Scale(type="symlog", constant=1, nice=False)
    axis = alt.Axis(values=SIZE_TICKS, labelExpr=SIZE_LABEL, labelOverlap="greedy")
    return alt.X("bytes:Q", title=title, scale=scale, axis=axis)


def memory_axis(title: str) -> alt.X:
    """The axis of sizes of memory: logarithmic, in doublings."""
    axis = alt.Axis(values=SIZE_TICKS, labelExpr=SIZE_LABEL)
    return alt.X("bytes:Q", title=title, scale=alt.Scale(type="log", base=2), axis=axis)


def share_axis(field: str, title: str, form: str = "%") -> alt.Y:
    """The axis of shares from 0 to 100 %."""
    scale = alt.Scale(domain=[0, 1])
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(format=form))


def cell_axis(label: str, angle: float = 0) -> alt.Axis:
    """The axis of a matrix, whose cells are labelled by an expression."""
    return alt.Axis(
        labelAngle=angle,
        labelOverlap=True,
        labelFlush=False,
        ticks=False,
        domain=False,
        labelExpr=label,
    )


def heat_color(title: str, most: float, **legend: Any) -> alt.Color:
    """Colour by `ratio` from 1 to `most`, or COLOUR_FACTOR_MIN if that is less."""
    domain = [1, max(COLOUR_FACTOR_MIN, most)]
    scale = alt.Scale(type="log", scheme="viridis", domain=domain, clamp=True)
    shown = alt.Legend(format=".3~r", tickCount=4, gradientLength=180, **legend)
    return alt.Color("ratio:Q", title=title, scale=scale, legend=shown)


def log_ticks(values: Iterable[float | None]) -> list[float]:
    """1, 2 and 5 of each decade over the values; only decades where there are many."""
    positive = [value for value in values if value is not None and value > 0]
    if not positive:
        return []
    first = math.floor(math.log10(min(positive)))
    last = math.ceil(math.log10(max(positive)))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]


def log_axis(
    field: str, title: str, rows: Iterable[Row], label: str, scale: alt.Scale = LOG_SCALE
) -> alt.Y:
    """A logarithmic axis of values: round ticks over what `rows` have in `field`, if anything.

    `label` is TIME_LABEL or RATE_LABEL.
    """
    ticks = log_ticks(row.get(field) for row in rows)
    axis = alt.Axis(values=ticks, labelExpr=label, labelOverlap="greedy")
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)


def color(names: Sequence[str], shown: Sequence[str] | None = None) -> alt.Color:
    """Colour by series in the fixed order; the theme gives the palette.

    The legend has those of `names` that are shown, or all.
    """
    entries = list(names if shown is None else shown)
    return alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=list(names)),
        legend=alt.Legend(
            title=None, labelLimit=320, symbolSize=110, symbolOpacity=1, values=entries
        ),
    )


def shape(names: Sequence[str]) -> alt.Shape:
    """Shape by series too: colour alone does not reach every reader, nor a printer."""
    return alt.Shape("series:N", title=None, scale=alt.Scale(domain=list(names)))


def highlight() -> alt.Parameter:
    """Clicking a legend entry keeps that series and fades the others."""
    return alt.selection_point(name="picked", fields=["series"], bind="legend")


def faded(picked: alt.Parameter, opacity: float) -> Any:
    """`opacity` for picked series, nearly nothing for the others."""
    return alt.condition(picked, alt.value(opacity), alt.value(0.06))


def pattern_choice(patterns: Sequence[str]) -> alt.Parameter:
    """A parameter that picks the pattern shown, with an input where there is a choice."""
    first = MAIN_PATTERN if MAIN_PATTERN in patterns else patterns[0]
    return choice("shown", patterns, first, "Pattern")


def choice(name: str, options: Sequence[str], first: str, title: str) -> alt.Parameter:
    """A parameter with an input that picks one of several options, where there are several."""
    if len(options) == 1:
        return alt.param(name=name, value=first)
    bind = alt.binding_select(options=list(options), name=f"{title} ")
    return alt.param(name=name, value=first, bind=bind)


def only_shown() -> str:
    """The filter that goes with `pattern_choice`."""
    return "datum.pattern === shown"


def wide(chart: Any, *choices: alt.Parameter, height: int = CHART_HEIGHT) -> alt.TopLevelMixin:
    """A chart as wide as its page, with the choices of its reader."""
    shown: alt.LayerChart = chart.add_params(*choices) if choices else chart
    return shown.properties(width="container", height=height)


PLACES_MAX = 128


def places_of(ranks: int) -> pl.DataFrame:
    """Columns `rank`, `place` (the first rank of its group), `ranks` in words, `members`."""
    step = max(1, math.ceil(ranks / PLACES_MAX))
    all_ranks = pl.DataFrame({"rank": range(ranks)}, schema={"rank": pl.Int32})
    first = pl.col("rank") // step * step
    last = pl.min_horizontal(first + step - 1, pl.lit(ranks - 1))
    words = first.cast(pl.String)
    if step > 1:
        words = words + " to " + last.cast(pl.String)
    return all_ranks.with_columns(place=first, ranks=words, members=last - first + 1)


def rank_bars(
    rows: list[Row], y: alt.Y, color: alt.Color, height: int = CHART_HEIGHT, **titles: Any
) -> alt.TopLevelMixin:
    """A bar of parts for each place of `rows`, with a tooltip of its rank and of `titles`."""
    x = alt.X("place:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0))
    tips = tooltip(rows, "rank", **titles)
    bars = alt.Chart(data_of(rows)).mark_bar().encode(x=x, y=y, color=color, tooltip=tips)
    return wide(bars, height=height)
