"""A map of ranks by bytes: the fastest algorithm in each cell, and its lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import altair as alt
import numpy as np

from nhalf.base.numbers import format_number
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.decide.predict import Prediction
from nhalf.present.charts import common

CELL_HEIGHT = 26
HEIGHT_MAX = 620
COLOURS = 7
"""This many colours can be told apart; what wins least often shares the last."""
OTHERS = "others"
WHOLE = "one, the whole message"
CLEAR = 1.05
"""From this factor between the fastest and the second on, a cell is drawn in full colour."""


def choice_map(prediction: Prediction) -> alt.Chart:
    """The map of a prediction with several ways: a cell per number of ranks and size."""
    rows, order = _rows(prediction)
    ranks = [str(p) for p in reversed(prediction.ranks)]
    sizes = [format_size(n) for n in prediction.size_bytes]
    height = min(HEIGHT_MAX, CELL_HEIGHT * len(ranks))
    picked = alt.selection_point(fields=["shown"], bind="legend")
    legend = alt.Legend(columns=4, symbolOpacity=1)
    scale = alt.Scale(domain=order)
    colour = alt.Color("shown:N", title="fastest", scale=scale, legend=legend)
    opacity = (
        alt.when(picked)
        .then(
            alt.Opacity(
                "clear:Q",
                legend=None,
                scale=alt.Scale(domain=[1.0, CLEAR], range=[0.45, 1.0], clamp=True),
            )
        )
        .otherwise(alt.value(0.08))
    )
    chart: alt.Chart = (
        alt.Chart(common.data_of(rows))
        .mark_rect(stroke="transparent", strokeWidth=2, cornerRadius=2)
        .encode(
            x=alt.X(
                "size:N",
                title="message size",
                sort=sizes,
                axis=alt.Axis(labelAngle=0, labelOverlap="parity", labelSeparation=4),
            ),
            y=alt.Y("ranks:N", title="ranks", sort=ranks),
            color=colour,
            opacity=opacity,
            tooltip=common.tooltip(
                rows,
                ranks="ranks",
                size="size",
                algorithm="fastest",
                parts="in parts of",
                time="time",
                second="second",
            ),
        )
        .add_params(picked)
        .properties(width="container", height=height)
    )
    return chart


def _rows(prediction: Prediction) -> tuple[list[Row], list[str]]:
    """Rows of the chart, and the names in its legend, the most frequent first."""
    best, best_parts = prediction.best(), prediction.best_parts()
    ranking = [name for name, _ in Counter(name for row in best for name in row).most_common()]
    shown = ranking if len(ranking) <= COLOURS else [*ranking[: COLOURS - 1], OTHERS]
    names = [way.algorithm for way in prediction.ways]
    rows: list[Row] = []
    for i, p in enumerate(prediction.ranks):
        for j, n in enumerate(prediction.size_bytes):
            times = prediction.time_s[:, i, j]
            second, factor = _second(times, names)
            part_bytes = best_parts[i][j]
            rows.append(
                {
                    **{"ranks": str(p), "size": format_size(n), "algorithm": best[i][j]},
                    "parts": format_size(part_bytes) if part_bytes else WHOLE,
                    "shown": best[i][j] if best[i][j] in shown else OTHERS,
                    "time": format_time(float(np.nanmin(times))),
                    "clear": common.digits(factor, 4),
                    "second": f"{second}, {format_number(factor)} times as long"
                    if second
                    else "no other",
                }
            )
    return rows, shown


def _second(
    times: np.ndarray[tuple[int, ...], np.dtype[np.float64]], names: Sequence[str]
) -> tuple[str, float]:
    """The second fastest, and how many times as long it takes."""
    order = np.argsort(times)  # what is unknown comes last
    if len(order) < 2 or np.isnan(times[order[1]]):
        return "", CLEAR
    return names[order[1]], float(times[order[1]] / times[order[0]])
