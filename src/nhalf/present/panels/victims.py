"""The panel on operations of some ranks while the others load the network."""

from collections.abc import Iterator

import altair as alt

from nhalf.base.numbers import span, times
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.victims import PATTERN, CongestedOperation, congested
from nhalf.present.charts import common
from nhalf.present.charts.ratios import dots, ratio_domain, ratio_ticks
from nhalf.present.panels import Panel

KINDS = ("all operations", "slowest 1 %")


class Victims(Panel[Facts]):
    title = "Who suffers beside a load"
    how_to_read = (
        "How many times as long an operation of some ranks takes while the others load the "
        "network, per kind of load, as in quiet (dashed line): the median of all operations, and "
        "the slowest 1 % of them against the slowest 1 % in quiet; a tail far to the right of its "
        "median means that a few operations wait for very long."
    )
    order = 66
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for operation in congested(facts) for row in _rows(operation)]
        if not rows:
            return None
        low, high = ratio_domain(
            [row[end] for row in rows for end in ("low", "high")], len(rows) * 3
        )
        scale = alt.Scale(type="log", nice=False, domain=[low, high], clamp=True)
        values = ratio_ticks(low, high)
        axis = alt.Axis(
            values=values, labelExpr="format(datum.value, '~r') + '×'", labelOverlap=True
        )
        titles = {"victim": "victims", "name": "load", "kind": "of", "quiet": "in quiet"}
        titles |= {"loaded": "beside the load", "times": "times as long"}
        titles |= {"interval": "95 % interval"}
        value = alt.X("ratio:Q", title="times as long as in quiet", scale=scale, axis=axis)
        return dots(rows, value, KINDS, common.tooltip(rows, **titles), ("victim", "Victims"), 1)


def _rows(operation: CongestedOperation) -> Iterator[Row]:
    """A row for all operations, and one for the slowest."""
    size = format_size(operation.size_bytes)
    states = zip(
        KINDS,
        (operation.ratio, operation.tail_ratio),
        operation.quiet_s,
        operation.loaded_s,
        strict=True,
    )
    for kind, ratio, quiet_s, loaded_s in states:
        if ratio is None:
            continue
        yield {
            "victim": f"{operation.series}: {operation.of} of {size}, {operation.victims} of "
            f"{operation.ranks} ranks",
            "name": f"{operation.load} of {format_size(operation.load_bytes)}",
            "kind": kind,
            "quiet": _time(operation, quiet_s),
            "loaded": _time(operation, loaded_s),
            "times": times(ratio.median),
            "ratio": common.digits(ratio.median, 4),
            "low": common.digits(common.drawn_low(ratio.low, ratio.median), 4),
            "high": common.digits(common.drawn_high(ratio.high, ratio.median), 4),
            "interval": span(ratio.low, ratio.high) if ratio.low < ratio.high else "none",
        }


def _time(operation: CongestedOperation, time_s: float) -> str:
    """The time of an operation; of a window of messages also the rate."""
    rate = format_rate(operation.size_bytes / time_s) if operation.of == "ring-window" else ""
    return f"{format_time(time_s)} per message, {rate}" if rate else format_time(time_s)
