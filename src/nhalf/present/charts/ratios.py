"""Ratios of pairs as points with intervals, and dots beside each other."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from nhalf.base.numbers import span
from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.sending import Variants, against_standard
from nhalf.present.charts import common

RATIO_LABEL = "format(datum.value, '~r') + '×'"
LEAST_POWER, MOST_POWER = -9, 9
LEAST, MOST = 1e-9, 1e9
"""No axis of ratios reaches further."""


def ratio_row(point: Row, kind: str) -> Row:
    """A row of the chart from a size with its ratio and interval (facts/difference.py)."""
    ratio, low, high = point["ratio"], point["low"], point["high"]
    return {
        **common.pick(point, "series", "bytes"),
        "kind": kind,
        "size": format_size(point["bytes"]),
        "ratio": common.digits(ratio, 4),
        **common.drawn_ends(low, ratio, high, 4),
        "interval": span(low, high) if point["launches"] > 1 else "none (one launch)",
    }


def ratio_chart(
    rows: Sequence[Row],
    names: Iterable[str],
    kind_title: str,
    standard: str,
    series_title: str = "library",
    order: Sequence[str] = (),
    outliers: bool = True,
) -> alt.TopLevelMixin:
    """The chart of `rows` made by `ratio_row`, facets in the order of `names`.

    `kind_title` and `series_title` head the tooltips; ratios are multiples of `standard`;
    kinds are in `order`, by default sorted. Without `outliers` the axis shows every ratio. Rows
    with `pattern` are shown one pattern at a time, with a choice.
    """
    kinds = list(order) or sorted({row["kind"] for row in rows})
    patterns = sorted({row["pattern"] for row in rows if "pattern" in row})
    domain = ratio_domain([row["ratio"] for row in rows], 25 if outliers else len(rows) + 1)
    ratio = ratio_axis(domain, standard)
    base = alt.Chart().encode(x=common.size_axis(), color=common.kind_color(kinds))
    unity_line = alt.Chart().mark_rule(strokeDash=[4, 4], opacity=0.6).encode(y=alt.datum(1))
    shade = 0.14 if len(kinds) <= common.BANDS_MAX else 0.0
    band = base.mark_area(opacity=shade).encode(
        y=alt.Y("low:Q", scale=alt.Scale(type="log", domain=domain, clamp=True)), y2="high:Q"
    )
    line = base.mark_line(strokeWidth=2).encode(y=ratio)
    marks = base.mark_point(filled=True, size=30).encode(
        y=ratio,
        shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds)),
        tooltip=common.tooltip(
            rows,
            **{"series": series_title, "kind": kind_title, "size": "size"},
            **{"ratio": f"times {standard}", "interval": "95 % interval"},
        ),
    )
    layers = alt.layer(band, unity_line, line, marks, data=common.data_of(list(rows)))
    chart = common.facets(layers, rows, names)
    if not patterns:
        return chart
    return chart.transform_filter(common.only_shown()).add_params(common.pattern_choice(patterns))


def ratio_axis(domain: Sequence[float], standard: str, channel: Any = alt.Y) -> Any:
    """The axis of `ratio` over a `ratio_domain`, in multiples of `standard`."""
    low, high = domain
    scale = alt.Scale(type="log", nice=False, domain=[low, high], clamp=True)
    axis = alt.Axis(values=ratio_ticks(low, high), labelExpr=RATIO_LABEL, labelOverlap=True)
    return channel("ratio:Q", title=f"times {standard}", scale=scale, axis=axis)


def ratio_domain(ratios: list[float], one_in: int = 25) -> list[float]:
    """Choose the ends of the axis: it shows 1 and all but one in `one_in` ratios at either end.

    What is beyond all ticks is drawn at its edge.
    """
    ordered = sorted(min(max(ratio, LEAST), MOST) for ratio in ratios)
    low, high = ordered[len(ordered) // one_in], ordered[-1 - len(ordered) // one_in]
    return [float(f"{min(low, 1) / 1.15:.2g}"), float(f"{max(high, 1) * 1.15:.2g}")]


def ratio_ticks(low: float, high: float) -> list[float]:
    """Finer than decades: most kinds cost between nothing and a few times.

    Only ticks on the axis: a clamped scale would draw the others at its edges.
    """
    if high / low > 1000:
        ticks = [float(f"1e{power}") for power in range(LEAST_POWER, MOST_POWER + 1)]
    elif high / low > 6:
        ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
    else:
        ticks = [0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5]
    return [tick for tick in ticks if low <= tick <= high]


def ways_chart(
    facts: Facts, variants: Variants, name: Callable[[Mapping[str, str]], str], words: str
) -> alt.TopLevelMixin | None:
    """The chart of `against_standard`; None if there is nothing.

    `name` makes the name of a way from its axes; `words` name the standard.
    """
    ratios = against_standard(facts, variants)
    standard = [axis for axis, _ in variants.standard]
    if ratios.is_empty():
        return None
    by = ["series", "pattern", *standard, "bytes"]
    points = common.thin(with_intervals(ratios.sort(by), by), by[:-1])
    shown = set(points["pattern"])
    rows = []
    for row in points.iter_rows(named=True):
        way = name({axis: row[axis] for axis in standard})
        choice = {"pattern": row["pattern"]} if len(shown) > 1 else {}
        rows.append(ratio_row(row, way) | choice)
    return ratio_chart(
        rows, sorted({row["series"] for row in rows}), kind_title="way", standard=words
    )


LINE_HEIGHT = 34


def dots(
    rows: Sequence[Row],
    value: alt.X,
    kinds: Sequence[str],
    tooltip: Sequence[alt.Tooltip],
    choice: tuple[str, str],
    level: float | None = None,
) -> alt.TopLevelMixin:
    """The chart of `rows`, which have `name`, `kind`, `low`, `high` and the field of `value`.

    `choice` names a field of which one value is shown at a time, and its title; a dashed line
    stands at `level`.
    """
    names = list(dict.fromkeys(row["name"] for row in rows))
    options = list(dict.fromkeys(row[choice[0]] for row in rows))
    scale = alt.Scale(domain=list(kinds))
    shifts = alt.Scale(domain=list(kinds), paddingInner=0.5, paddingOuter=0.5)
    base = alt.Chart().encode(
        y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(grid=True, tickBand="extent")),
        yOffset=alt.YOffset("kind:N", scale=shifts, sort=list(kinds)),
        color=common.kind_color(kinds),
    )
    rules = base.mark_rule(strokeWidth=2, opacity=0.5).encode(x=alt.X("low:Q"), x2="high:Q")
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=value, shape=alt.Shape("kind:N", title=None, scale=scale), tooltip=list(tooltip)
    )
    layers = [rules, marks]
    if level is not None:
        line = alt.Chart().mark_rule(strokeDash=[4, 4], opacity=0.6).encode(x=alt.datum(level))
        layers.insert(0, line)
    return (
        alt.layer(*layers, data=common.data_of(list(rows)))
        .transform_filter(f'datum["{choice[0]}"] === chosen')
        .add_params(common.choice("chosen", options, options[0], choice[1]))
        .properties(width="container", height=max(90, LINE_HEIGHT * len(names)))
    )
