"""A dot with its interval for every name and kind: names in lines, kinds by colour and shape."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from nhalf.base.rows import Row
from nhalf.present.charts import common

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
        x=value,
        shape=alt.Shape("kind:N", title=None, scale=scale),
        tooltip=list(tooltip),
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
