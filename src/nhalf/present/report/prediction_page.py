"""A prediction as one page: what is fastest where, in words, as a map, and as curves."""

import json
import math
from collections import Counter
from collections.abc import Sequence

import altair as alt
import numpy as np

from nhalf.base.numbers import format_number, percent, times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.decide.predict import Prediction
from nhalf.present.charts import common
from nhalf.present.charts.curves import lines
from nhalf.present.panels import Table
from nhalf.present.report.caption import captioned, choice_of
from nhalf.present.report.page import card_of, rendered
from nhalf.present.report.sections import Section

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
    axis = alt.Axis(labelAngle=0, labelOverlap="parity", labelSeparation=4)
    titles = {"ranks": "ranks", "size": "size", "algorithm": "fastest", "parts": "in parts of"}
    titles |= {"time": "time", "second": "second"}
    x = alt.X("size:N", title="message size", sort=sizes, axis=axis)
    y = alt.Y("ranks:N", title="ranks", sort=ranks)
    chart: alt.Chart = (
        alt.Chart(common.data_of(rows))
        .mark_rect(stroke="transparent", strokeWidth=2, cornerRadius=2)
        .encode(x=x, y=y, color=colour, opacity=opacity, tooltip=common.tooltip(rows, **titles))
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


FOOTER = (
    "Nothing here was measured: times are composed of a machine's models, or simulated where "
    "stated. nhalf tune verifies a choice on the machine itself."
)
MAP = "The fastest algorithm"
MAP_HOW = (
    "Each cell is a number of ranks and a message size, its colour the fastest algorithm; pale "
    "cells are those where the second is less than 5 % behind, so that either is fine."
)
CURVES = "Time of every algorithm"
CURVES_HOW = "Lower is faster; where two lines cross, the better choice changes."


def prediction_page(prediction: Prediction) -> str:
    """The whole page as HTML."""
    return rendered(
        _cards(prediction),
        title=f"{prediction.pattern} on {prediction.machine}",
        subtitle="predicted times of algorithms, and the fastest of every cell",
        sureness=[
            (str(len(prediction.ranks) * len(prediction.size_bytes)), "cells of ranks and sizes"),
            (str(len(prediction.ways)), "algorithms"),
            (str(len(prediction.crossovers)), "sizes at which the best changes"),
        ],
        footer=FOOTER,
        sections=_sections(prediction),
    )


def _cards(prediction: Prediction) -> list[dict[str, str]]:
    """Make a card for each algorithm: how often it is fastest, and its cost if used everywhere."""
    fastest = np.nanmin(prediction.time_s, axis=0)
    best = Counter(name for row in prediction.best() for name in row)
    cells = fastest.size
    cards = []
    for k, way in enumerate(prediction.ways):
        way_s = prediction.time_s[k]
        if np.isnan(way_s).any() or not best[way.algorithm]:
            continue
        loss = float(np.mean(way_s / fastest - 1))
        text = f"{way.algorithm} wins {best[way.algorithm]} of {cells} cells"
        if math.isfinite(loss):
            text += (
                f"; used everywhere it would take {times(1 + loss)} as long as the best choice, on "
                "average"
            )
        text += "."
        figure = percent(best[way.algorithm] / cells)
        cards.append((best[way.algorithm], card_of(figure, text)))
    return [card for _, card in sorted(cards, key=lambda card: -card[0])]


def _sections(prediction: Prediction) -> list[Section]:
    sections = []
    if len(prediction.ways) > 1:
        sections.append(_section("map", MAP, MAP_HOW, choice_map(prediction), prediction))
    if len(prediction.size_bytes) > 1 and (prediction.time_s > 0).any():
        sections.append(_section("curves", CURVES, CURVES_HOW, _curves(prediction), prediction))
    if prediction.crossovers:
        columns = {"ranks": "ranks", "from": "size_bytes", "instead of": "before", "take": "after"}
        table = Table.of(prediction.crossovers, columns)
        how = "Below such a size the one is faster, from it on the other."
        sections.append(Section("crossovers", "Where the best changes", how, None, table))
    rows = [[way.algorithm, way.source] for way in prediction.ways]
    table = Table(["algorithm", "what its time is taken from"], rows)
    return [*sections, Section("sources", "Sources", "Costs in parts of the machine.", None, table)]


def _section(
    name: str, title: str, how: str, chart: alt.TopLevelMixin, prediction: Prediction
) -> Section:
    spec = {**chart.to_dict(), "description": f"{title}. {how}"}
    caption = f"{prediction.pattern} on {prediction.machine}, predicted"
    choice = choice_of(spec)
    text = {"expr": f"{json.dumps(caption)} + ' · ' + {choice.parameter}"} if choice else caption
    return Section(name, title, how, captioned(spec, text), None)


def _curves(prediction: Prediction) -> alt.TopLevelMixin:
    """Time over size, a line per algorithm, for one number of ranks at a time."""
    rows: list[Row] = [
        {
            **{"kind": way.algorithm, "ranks": f"{p} ranks"},
            **{"machine": prediction.machine, "bytes": n, "size": format_size(n)},
            **{"median": common.digits(time_s), "time": format_time(time_s)},
        }
        for k, way in enumerate(prediction.ways)
        for i, p in enumerate(prediction.ranks)
        for j, n in enumerate(prediction.size_bytes)
        if (time_s := float(prediction.time_s[k, i, j])) > 0
    ]
    title = "completion time"
    return lines(
        rows,
        axes=(common.size_axis(), common.log_axis("median", title, rows, common.TIME_LABEL)),
        kinds=[way.algorithm for way in prediction.ways],
        facets=("machine", [prediction.machine]),
        tooltip=common.tooltip(rows, kind="algorithm", size="size", time="time"),
        choice=("ranks", "Ranks"),
    )
