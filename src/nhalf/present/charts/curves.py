"""Lines over an axis: of kinds, and of libraries over the message size with what is behind."""

from collections.abc import Callable, Collection, Iterable, Sequence

import altair as alt
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import series_names, with_series
from nhalf.present.charts import common
from nhalf.present.wording import texts
from nhalf.results.pair_map.times import natural

COLOURS = 7
"""This many colours can be told apart; further lines have them again, dashed."""
DASHES: list[list[int]] = [[1, 0], [7, 3], [2, 3]]
SIZES_MAX = 5
"""This many sizes are drawn as lines of their own; more could not be told apart."""


def some_sizes(sizes: Sequence[int], most: int = SIZES_MAX) -> list[int]:
    """The first, the last and evenly spaced ones between them, increasing."""
    ordered = sorted(set(sizes))
    if len(ordered) <= most:
        return ordered
    return [ordered[round(place * (len(ordered) - 1) / (most - 1))] for place in range(most)]


def with_some_sizes(points: pl.DataFrame, most: int = SIZES_MAX) -> pl.DataFrame:
    """The points of `some_sizes`."""
    return points.filter(pl.col("bytes").is_in(some_sizes(points["bytes"].to_list(), most)))


def count_axis(rows: Iterable[Row], field: str, title: str, doubling: bool = False) -> alt.X:
    """An axis of integers, those in a field of `rows`; `doubling` if they grow by factors."""
    ordered = sorted({row[field] for row in rows})
    scale = alt.Scale(type="log", base=2, nice=False) if doubling else alt.Scale(zero=False)
    if len(ordered) == 1:  # alone it stands at the centre: it would stretch no axis
        scale = alt.Scale(domain=[ordered[0] - 1, ordered[0] + 1], nice=False)
    ticks = ordered if len(ordered) <= 12 else ordered[:: len(ordered) // 6]
    axis = alt.Axis(values=ticks, format="d", labelOverlap=True, grid=False)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)


def dashed_level(value: float) -> alt.Chart:
    """A dashed line all along the x axis, for `behind`."""
    line: alt.Chart = alt.Chart().mark_rule(strokeDash=[4, 4], opacity=0.6)
    level: alt.Chart = line.encode(y=alt.datum(value))
    return level


def _strokes(kinds: Sequence[str]) -> dict[str, alt.StrokeDash]:
    """Dashes for the kinds whose colours are those of others, none where the colours suffice."""
    if len(kinds) <= COLOURS:
        return {}
    dashes = [DASHES[place // COLOURS % len(DASHES)] for place in range(len(kinds))]
    scale = alt.Scale(domain=list(kinds), range=dashes)
    return {"strokeDash": alt.StrokeDash("kind:N", title=None, scale=scale)}


def lines(
    rows: Sequence[Row],
    axes: tuple[alt.X, alt.Y],
    facets: tuple[str, Sequence[str]],
    tooltip: Sequence[alt.Tooltip],
    kinds: Sequence[str] = (),
    choice: tuple[str, str] | None = None,
    every_kind: bool = True,
    behind: Sequence[alt.Chart] = (),
) -> alt.TopLevelMixin:
    """The chart of `rows`, which have `kind` and the fields of `axes`.

    Kinds are in the order of `kinds`, without them in that of the rows. `facets` names a field and
    the order of its values; `choice` a field of which one value is shown at a time, and its title.
    Layers `behind` the lines have no fields of their own. Unless `every_kind`, the legend has only
    the kinds of what is shown.
    """
    (x, y), (field, order) = axes, facets
    kinds = kinds or list(dict.fromkeys(row["kind"] for row in rows))
    kind_scale = alt.Scale(domain=list(kinds)) if every_kind else alt.Undefined
    # Legends of colour and shape are one where their domains are the same and given.
    kind_shapes = alt.Undefined if every_kind else None
    parameters, chosen = [], "true"
    if choice is not None:
        options = sorted({row[choice[0]] for row in rows}, key=natural)
        parameters = [common.choice("chosen", options, options[0], choice[1])]
        chosen = f'datum["{choice[0]}"] === chosen'
    base = alt.Chart().encode(
        x=x, y=y, color=common.kind_color(kinds if every_kind else alt.Undefined, sort=list(kinds))
    )
    shape = alt.Shape("kind:N", title=None, sort=list(kinds), scale=kind_scale, legend=kind_shapes)
    marks = base.mark_point(filled=True, size=42, opacity=1).encode(
        shape=shape, tooltip=list(tooltip)
    )
    picked = alt.selection_point(name="picked", fields=["kind"], bind="legend")
    opacity = alt.when(picked).then(alt.value(1.0)).otherwise(alt.value(0.12))
    dashes = _strokes(kinds if every_kind else ())
    strokes = base.mark_line(strokeWidth=2).encode(opacity=opacity, **dashes)
    marks = marks.encode(opacity=opacity).add_params(picked)
    layers = alt.layer(*behind, strokes, marks, data=common.data_of(list(rows)))
    return (
        common.facets(layers, rows, order, field)
        .transform_filter(chosen)  # not within the facets: those of other choices would be empty
        .add_params(*parameters)
    )


def series_lines(
    rows: Sequence[Row],
    axes: tuple[alt.X, alt.Y],
    tooltip: Sequence[alt.Tooltip],
    dashed: tuple[str, Sequence[str]] | None = None,
) -> alt.TopLevelMixin:
    """Lines and marks of the series in `rows`, one pattern at a time.

    Lines are `dashed` by a field and the order of its values.
    """
    names, patterns = (sorted({row[name] for row in rows}) for name in ("series", "pattern"))
    base = (
        alt.Chart(common.data_of(list(rows)))
        .transform_filter(common.only_shown())
        .encode(x=axes[0], y=axes[1], color=common.color(names))
    )
    line = base.mark_line(strokeWidth=2)
    marks = base.mark_point(filled=True, size=42).encode(
        shape=common.shape(names), tooltip=list(tooltip)
    )
    if dashed is not None:
        field, order = dashed
        dashes = alt.StrokeDash(f"{field}:N", title=field, sort=list(order))
        line = line.encode(strokeDash=dashes, detail=f"{field}:N")
        marks = marks.encode(detail=f"{field}:N")
    return common.wide(alt.layer(line, marks), common.pattern_choice(patterns))


ELSEWHERE_DATA = "elsewhere"
"""The name of these points' data in a specification."""
CURVES = ["series", "pattern", "axes"]


def elsewhere_points(drawn: pl.DataFrame, facts: Facts) -> pl.DataFrame:
    """Select the points in other states (`Facts.elsewhere`) on curves of which `drawn` has points.

    Adds `series`.
    """
    series = drawn if "series" in drawn.columns else with_series(drawn, facts)
    in_other_states = with_series(facts.elsewhere, facts)
    return in_other_states.join(
        series.select(CURVES).unique(), on=CURVES, how="semi", nulls_equal=True
    )


def beside(
    name: str, rows: Sequence[Row], value: alt.Y, color: alt.Color, tooltip: Sequence[alt.Tooltip]
) -> alt.Chart:
    """Rows over the message size that a chart has beside its own, as data of this name."""
    chart: alt.Chart = alt.Chart(alt.InlineData(values=list(rows), name=name))
    shown: alt.Chart = chart.transform_filter(common.only_shown()).encode(
        x=common.size_axis(), y=value, color=color, tooltip=list(tooltip)
    )
    return shown


def elsewhere_layers(
    points: pl.DataFrame, value: alt.Y, column: str, color: alt.Color
) -> list[alt.Chart]:
    """Draw `column` of such points as `value`; no layer if there are none."""
    if points.is_empty():
        return []
    field = str(value.to_dict()["field"])  # type: ignore[call-overload]
    rows = [
        {
            **common.pick(point, "series", "pattern", "bytes"),
            **texts(point, size="bytes", time="median_s"),
            field: common.digits(point[column]),
            "state": f"flag {format_time(point['state_s'])}" if point["state_s"] else "unknown",
        }
        for point in points.to_dicts()
    ]
    tips = common.tooltip(rows, "series", "size", "time", state="in another state of the machine")
    marks = beside(ELSEWHERE_DATA, rows, value, color, tips)
    return [marks.mark_point(filled=False, size=42, opacity=0.45, strokeDash=[2, 2])]


OVERLAY_DATA = "overlay"
"""The name of these curves' data in a specification."""


def overlay_rows(facts: Facts, patterns: Collection[str], value: alt.Y, column: str) -> list[Row]:
    """Select the rows of these patterns; `column` of the overlay is drawn as `value`."""
    if facts.overlay is None:
        return []
    field = str(value.to_dict()["field"])  # type: ignore[call-overload]
    points = facts.overlay.points.filter(
        pl.col("pattern").is_in(list(patterns)), pl.col(column).is_not_null()
    )
    return [
        {
            **{"of": facts.overlay.name, field: common.digits(point[column])},
            **common.pick(point, "series", "pattern", "bytes"),
            **texts(point, size="bytes", time="median_s", rate="rate_Bps"),
        }
        for point in points.to_dicts()
    ]


def overlay_layers(rows: list[Row], value: alt.Y, color: alt.Color) -> list[alt.Chart]:
    """Draw the dashed curves; none if there are no rows."""
    if not rows:
        return []
    titles = {"of": "for comparison", "series": "library", "size": "size", "time": "time"}
    tips = common.tooltip(rows, **titles, rate="rate")
    marks = {"filled": False, "size": 22}
    line = beside(OVERLAY_DATA, rows, value, color, tips)
    return [line.mark_line(strokeDash=[6, 4], strokeWidth=1.5, point=marks)]


def time_curves(points: pl.DataFrame, facts: Facts, title: str) -> alt.TopLevelMixin | None:
    """The times of sound `points` on an axis called `title`; None if there are no points."""
    if points.is_empty():
        return None
    series = with_series(points, facts)
    rows = common.time_rows(common.thin(series, ["series", "pattern"]))
    return curves(
        rows,
        facts,
        (common.log_axis("median", title, rows, common.TIME_LABEL), "median_s"),
        elsewhere_points(series, facts),
        ends=(alt.Y("low:Q", scale=alt.Scale(type="log")), "high:Q"),
        tooltip=common.tooltip(rows, time="time", interval="95 % interval", launches="launches"),
    )


def curves(
    rows: Sequence[Row],
    facts: Facts,
    drawn: tuple[alt.Y, str],
    elsewhere: pl.DataFrame,
    ends: tuple[alt.Y, str],
    tooltip: Sequence[alt.Tooltip],
    marked: Callable[[alt.Color], Sequence[alt.Chart]] = lambda color: (),
) -> alt.TopLevelMixin:
    """The chart of `rows`: a value is drawn as line and marks, `ends` as band and bars.

    `drawn` is that value, and the column that is drawn so of an overlay and of points `elsewhere`,
    which were measured in another state of the machine; `marked` makes layers with data of their
    own, on top, in the colours of the chart.
    """
    value, column = drawn
    overlaid = [] if facts.overlay is None else facts.overlay.points["series"].to_list()
    # Series of the overlay alone are last.
    names = list(dict.fromkeys([*series_names(facts), *overlaid]))
    patterns = sorted({row["pattern"] for row in rows})
    behind = overlay_rows(facts, patterns, value, column)
    series = {row["series"] for row in [*rows, *behind]}
    color = common.color(names, shown=[name for name in names if name in series])
    picked = common.highlight()
    shade = 0.22 if len(series) <= common.BANDS_MAX else 0.0
    low, high = ends
    base = (
        alt.Chart().transform_filter(common.only_shown()).encode(x=common.size_axis(), color=color)
    )
    band = base.mark_area().encode(y=low, y2=high, opacity=common.faded(picked, shade))
    bars = base.mark_rule(strokeWidth=2).encode(y=low, y2=high, opacity=common.faded(picked, 0.5))
    line = base.mark_line(strokeWidth=2).encode(y=value, opacity=common.faded(picked, 1))
    marks = base.mark_point(filled=True, size=42).encode(
        y=value,
        shape=common.shape(names),
        opacity=common.faded(picked, 1),
        tooltip=[*common.tooltip(rows, series="library", size="size"), *tooltip],
    )
    return common.wide(
        alt.layer(
            *(band, bars, *overlay_layers(behind, value, color)),
            *elsewhere_layers(elsewhere, value, column, color),
            *(line, marks, *marked(color)),
            data=common.data_of(list(rows)),
        ),
        common.pattern_choice(patterns),
        picked,
    )
