"""Panels on the parameters of the LogP family."""

from collections.abc import Iterator
from typing import Any

import altair as alt

from nhalf.base.rows import Row
from nhalf.facts.facts import Facts
from nhalf.facts.series import logp_rows
from nhalf.present.charts import common
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import interval_text, texts
from nhalf.results.logp import LogPResult
from nhalf.results.logp.times import PATTERNS

QUANTITIES = {"o_s, send": "send_overhead_s", "o_r, receive": "recv_overhead_s", "g, gap": "gap_s"}


class Logp(Panel[Facts]):
    title = "Overheads and gap (LogP)"
    how_to_read = (
        "Lower is better: o_s and o_r are how long a processor is kept busy by sending and by "
        "receiving one message, g is the time from one message to the next; where o_s or o_r comes "
        "close to g, the processors and not the network set the pace."
    )
    order = 44
    patterns = PATTERNS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for library in logp_rows(facts) for row in _rows(library)]
        if not rows:
            return None
        names = sorted({row["series"] for row in rows})
        scale = alt.Scale(type="log", nice=False, padding=6)
        time_axis = common.log_axis("value", "time per message", rows, common.TIME_LABEL, scale)
        kinds = list(QUANTITIES)
        legend = alt.Legend(title=None, symbolOpacity=1)
        color = alt.Color("quantity:N", title=None, scale=alt.Scale(domain=kinds), legend=legend)
        base = alt.Chart().encode(x=common.size_axis(), color=color)
        band = base.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
        line = base.mark_line(strokeWidth=2).encode(y=time_axis)
        marks = base.mark_point(filled=True, size=34, opacity=1).encode(
            y=time_axis,
            shape=alt.Shape("quantity:N", title=None, scale=alt.Scale(domain=kinds)),
            tooltip=common.tooltip(
                rows, "series", quantity="what", size="size", time="time", interval="95 % interval"
            ),
        )
        return common.facets(alt.layer(band, line, marks, data=common.data_of(rows)), rows, names)


def _rows(library: dict[str, Any]) -> Iterator[Row]:
    """Yield the points of one library; logarithmic axes show only values above 0."""
    for size in library["sizes"]:
        for quantity, name in QUANTITIES.items():
            value_s = size[name]
            if value_s is None or value_s <= 0:
                continue
            low_s, high_s = size[f"{name}_ci"] or (value_s, value_s)
            yield {
                **{"series": library["series"], "quantity": quantity, "bytes": size["bytes"]},
                **texts({**size, "value_s": value_s}, size="bytes", time="value_s"),
                "value": common.digits(value_s),
                **common.drawn_ends(low_s, value_s, high_s),
                "interval": interval_text(low_s, high_s, library["launches"]),
            }


MEANINGS = {
    "half_round_trip_s": "time of a small message, half of its round trip",
    "latency_s": "part in transit, while both processors are free",
    "send_overhead_s": "part in the sender's processor",
    "recv_overhead_s": "part in the receiver's processor",
    "gap_s": "from one small message to the next",
    "gap_per_byte_s": "rate of large messages",
}
UNKNOWN = "not above 0"


class LogpParameters(Panel[Facts]):
    title = "Parameters of LogP"
    how_to_read = (
        "Every message costs its sender o_s and its receiver o_r of computing time and is in "
        "transit for L, during which a program can compute; each has its 95 % interval over "
        "launches."
    )
    order = 45

    def render(self, facts: Facts) -> Table | None:
        libraries = logp_rows(facts)
        if not libraries:
            return None
        rows = [
            [column.title, MEANINGS[column.name], *(_cell(row, place) for row in libraries)]
            for place, column in enumerate(LogPResult.columns)
        ]
        return Table(["", "what it is", *(row["series"] for row in libraries)], rows)


def _cell(row: dict[str, Any], place: int) -> str:
    """A value with its interval; a latency that cannot be told from 0 is not shown as one."""
    column = LogPResult.columns[place]
    if column.name == "latency_s" and row["identifiable"] is False:
        return UNKNOWN
    return column.cell(row)


class LogpDoubts(Panel[Facts]):
    title = "Limits of LogP"
    how_to_read = (
        "A model with five parameters is simpler than a library: where it leaves something out, "
        "check predictions made with it."
    )
    order = 46

    def render(self, facts: Facts) -> Table | None:
        rows = [
            [library["series"], f"{limit}."]
            for library in logp_rows(facts)
            for limit in [library["missing"], *library["doubts"]]
            if limit
        ]
        return Table(["library", "what to know"], rows) if rows else None
