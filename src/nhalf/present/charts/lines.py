"""A line per kind, one facet per library or pattern: over pairs, phases or sizes alike."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from nhalf.base.rows import Row
from nhalf.present.charts import common
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


def count_axis(field: str, title: str, values: Sequence[int], doubling: bool = False) -> alt.X:
    """An axis of integers; `doubling` for those that grow by factors."""
    ordered = sorted(set(values))
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
    kinds: Sequence[str],
    facets: tuple[str, Sequence[str]],
    tooltip: Sequence[alt.Tooltip],
    choice: tuple[str, str] | None = None,
    every_kind: bool = True,
    behind: Sequence[alt.Chart] = (),
) -> alt.TopLevelMixin:
    """The chart of `rows`, which have `kind` (in the order of `kinds`) and the fields of `axes`.

    `facets` names a field and the order of its values; `choice` a field of which one value is
    shown at a time, and its title. Layers `behind` the lines have no fields of their own. Unless
    `every_kind`, the legend has only the kinds of what is shown.
    """
    (x, y), (field, order) = axes, facets
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
