"""Machine files for people (tables) and for scripts (JSON)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from nhalf.base.carrier import carrier
from nhalf.base.listing import ranks_text
from nhalf.base.numbers import UNKNOWN, half_width_text, percent, says_nothing, whole
from nhalf.base.rows import members
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.machines.machine import PatternModel, Range
from nhalf.models.terms import in_words
from nhalf.present.terminal.tables import add_literal, headed_table
from nhalf.present.wording import change_of
from nhalf.store.keys import CURVE, parse_axes, without

if TYPE_CHECKING:
    from nhalf.machines.machine import Breakpoint, FittedModel, LogGP, Machine, Segment


def model_json(model: FittedModel) -> dict[str, Any]:
    """One model for --json: infinite rates become null when written."""
    return {
        **members(model, "pattern", "mpi", "transport", "algorithm", "ranks", "placement"),
        "axes": parse_axes(model.axes),
        "segments": [_segment_json(segment) for segment in model.segments],
        "breakpoints": list(model.breakpoints),
        **members(
            model, "heldout_median", "heldout_p95", "heldout_sizes", "packet_steps", "source"
        ),
    }


def _segment_json(segment: Segment) -> dict[str, Any]:
    return {
        **members(segment, "from_bytes", "to_bytes", "t0_s"),
        "t0_s_ci": segment.t0_ci,
        "r_inf_Bps": segment.r_inf_Bps,
        "r_inf_Bps_ci": segment.r_inf_ci,
        "n_half_bytes": segment.n_half_bytes,
        "n_half_bytes_ci": segment.n_half_ci,
        "root_s": segment.root_s,
    }


def as_tables(machine: Machine) -> list[Table]:
    """One table for each model: a row is a segment, a line between says what changes.

    The parameters of the LogP family, where there are any, are a last one.
    """
    tables = [_table(model) for model in machine.models]
    return [*tables, _loggp_table(machine.loggp)] if machine.loggp else tables


NOT_KNOWN = "unknown"
"""In place of an interval over launches that disagree."""
ENDLESS = 2.0**60
"""Bytes, and bytes per second, from here on mean that there is no end."""
PARAMETERS = {
    "half_round_trip": "RTT/2",
    "latency": "L",
    "send_overhead": "o_s",
    "recv_overhead": "o_r",
    "gap": "g",
    "gap_per_byte": "1/G",
}


def _loggp_table(libraries: Sequence[LogGP]) -> Table:
    table = headed_table("LogGP", "library", *PARAMETERS.values(), words=("library",))
    for library in libraries:
        values = {name: getattr(library, f"{name}_s") for name in PARAMETERS}
        if library.identifiable is False:
            values["latency"] = None
        cells = [_parameter(name, value) for name, value in values.items()]
        parts = [
            carrier(library.mpi, library.transport),
            library.placement,
            ranks_text(library.ranks),
        ]
        add_literal(table, ", ".join(part for part in parts if part), *cells)
    return table


def _parameter(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    if name == "gap_per_byte":
        return format_rate(1 / value) if value > 0 else "–"
    return format_time(value)


def _table(model: FittedModel) -> Table:
    table = headed_table(_title(model), "sizes", words=("sizes",), caption=_caption(model))
    for name in ("t0", "rate r∞", "n½"):
        table.add_column(name, justify="right")
        table.add_column("95 %", style="dim")
    table.add_column("then")
    changes: list[Breakpoint | None] = [*model.breakpoints, None]
    for segment, change in zip(model.segments, changes, strict=False):
        table.add_row(*_cells(segment), _change(change))
    return table


def _cells(segment: Segment) -> list[str]:
    return [
        format_range(segment),
        "–" if _is_unknown_t0(segment) else format_t0(segment.t0_s),
        _interval(segment.t0_s, segment.t0_ci if segment.t0_s > 0 else None, format_time),
        format_rate(segment.r_inf_Bps) if math.isfinite(segment.r_inf_Bps) else "–",
        _interval(segment.r_inf_Bps, segment.r_inf_ci, format_rate),
        format_n_half(segment),
        _interval(
            segment.n_half_bytes, segment.n_half_ci if segment.t0_s > 0 else None, _size_in_words
        ),
    ]


def _is_unknown_t0(segment: Segment) -> bool:
    """Whether a fitted line ends at 0 because t0 cannot be negative: it does not determine t0."""
    return segment.t0_s == 0 and segment.t0_ci is not None


def format_t0(t0_s: float) -> str:
    """Format the time of an empty message; below 0 a line says nothing of small messages."""
    return format_time(t0_s) if t0_s >= 0 else "–"


def format_range(segment: Segment) -> str:
    """Format the sizes of a segment: '217 B – 8 KiB', or '0 B' of one size."""
    if segment.from_bytes == segment.to_bytes:
        return format_size(segment.from_bytes)
    return f"{format_size(segment.from_bytes)} – {format_size(segment.to_bytes)}"


def format_n_half(segment: Segment) -> str:
    """Format the size that reaches half of the rate; a dash where rate or t0 are unknown."""
    is_determined = segment.n_half_bytes < ENDLESS and not _is_unknown_t0(segment)
    return _size_in_words(segment.n_half_bytes) if is_determined else "–"


def _size_in_words(size_bytes: float) -> str:
    return format_size(round(size_bytes))


def _interval(value: float, ends: Range | None, words: Callable[[float], str]) -> str:
    """Format both ends of an interval, or the lower one alone; '' if there is none.

    No numbers where they would only mislead. Launches that agree to all digits show no spread,
    which is no interval of no width.
    """
    if ends is None or not ends[0] < ENDLESS:
        return ""
    highest = next(end for end in (ends[1], value, ends[0]) if end < ENDLESS)
    if says_nothing(ends[0], highest):
        return NOT_KNOWN
    if not ends[1] < ENDLESS:
        return f"> {words(ends[0])}"
    low, high = words(ends[0]), words(ends[1])
    return "no spread" if low == high else f"{low} – {high}"


def _change(change: Breakpoint | None) -> Text:
    if change is None:
        return Text("")
    cause = f": {change.cause}" if change.cause else ""
    if change.kind == "bend":
        return Text(f"bend{cause}", style="dim")
    slower = change.change_percent > 0
    words = f"{change_of(change)} above {format_size(change.low_bytes)}{cause}"
    return Text(words, style="yellow" if slower else "green")


def _title(model: FittedModel) -> str:
    place = [model.placement, model.axes]
    parts = [model.pattern, model.algorithm, carrier(model.mpi, model.transport), *place]
    return ", ".join(part for part in [*parts, ranks_text(model.ranks)] if part)


def _caption(model: FittedModel) -> str:
    lines = []
    if model.run and not any(segment.t0_ci for segment in model.segments):
        lines.append("no interval: one launch")
    if any(NOT_KNOWN in _cells(segment) for segment in model.segments):
        lines.append(f"{NOT_KNOWN}: launches disagree by too much for an interval")
    if any(math.isinf(segment.r_inf_Bps) for segment in model.segments):
        lines.append("– : the time does not grow with the size there, so there is no rate")
    if model.heldout_median is not None and model.heldout_p95 is not None:
        lines.append(
            f"error on sizes left out of the fit: median {percent(model.heldout_median, 1)}, "
            f"95 % below {percent(model.heldout_p95, 1)} ({model.heldout_sizes} sizes)"
        )
    if model.packet_steps is not None:
        steps = model.packet_steps
        lines.append(
            f"steps of {format_time(steps.height_s)} at {whole(steps.offset_bytes)} + "
            f"{whole(steps.period_bytes)} i bytes"
        )
    return "\n".join(lines)


MICROSECOND, NANOSECOND = 1e-6, 1e-9
_TABLE = without(CURVE, "ranks")


def pattern_json(model: PatternModel) -> dict[str, Any]:
    """One region of one pattern, for --json."""
    names = (name for name in model.__struct_fields__ if name not in ("axes", "leftover"))
    return {
        **{name: getattr(model, name) for name in names},
        "axes": parse_axes(model.axes),
        "corrected": model.leftover is not None,
    }


def pattern_tables(models: Sequence[PatternModel]) -> list[Table]:
    """A table for each pattern: a row is a region of sizes."""
    grouped = itertools.groupby(models, key=lambda model: [getattr(model, n) for n in _TABLE])
    return [_pattern_table(list(regions)) for _, regions in grouped]


def _pattern_table(regions: Sequence[PatternModel]) -> Table:
    table = headed_table(_pattern_title(regions[0]), caption=_pattern_caption(regions))
    table.add_column("sizes", no_wrap=True)
    for name in ("start-up, µs", "per byte, ns"):
        table.add_column(name)
        table.add_column("± 95 %", style="dim", no_wrap=True)
    for model in regions:
        low, high = format_size(model.from_bytes), format_size(model.to_bytes or 0)
        table.add_row(
            low if low == high else f"{low} – {high}",
            in_words(model.startup_s, MICROSECOND, model.letter) or "0",
            _widths(model.startup_s, model.startup_ci),
            in_words(model.per_byte_s, NANOSECOND, model.letter) or "0",
            _widths(model.per_byte_s, model.per_byte_ci),
        )
    return table


def _widths(values: dict[str, float], intervals: dict[str, Range]) -> str:
    """Half of each interval as a share of its coefficient, in the order of the words.

    A coefficient that may as well be 0, or have the other sign, is not known.
    """
    names = sorted(values, key=lambda name: name == "1")
    return ", ".join(_half_width(values[name], intervals.get(name)) for name in names)


def _half_width(value: float, ends: Range | None) -> str:
    if ends is None or value == 0:
        return UNKNOWN
    return half_width_text((ends[1] - ends[0]) / 2 / abs(value)).removeprefix("±")


def _pattern_title(model: PatternModel) -> str:
    words = [model.pattern, model.algorithm, carrier(model.mpi, model.transport), model.placement]
    ranks = f"{model.letter} = {model.from_ranks} to {model.to_ranks} {_noun(model)}"
    return ", ".join(filter(None, [*words, model.axes, ranks]))


def _noun(model: PatternModel) -> str:
    return "messages" if model.counts == "depth" else "ranks"


def _pattern_caption(regions: Sequence[PatternModel]) -> str:
    first, lines = regions[0], []
    if first.heldout_median is not None and first.heldout_p95 is not None:
        lines.append(
            f"error on cells left out of the fit: median {percent(first.heldout_median, 1)}, "
            f"95 % below {percent(first.heldout_p95, 1)} ({first.heldout_cells} cells)"
        )
    if first.heldout_ranks_median is not None and first.heldout_ranks_p95 is not None:
        lines.append(
            f"on numbers of {_noun(first)} left out: "
            f"median {percent(first.heldout_ranks_median, 1)}, "
            f"95 % below {percent(first.heldout_ranks_p95, 1)}"
        )
    if first.leftover is not None and first.leftover.whole:
        lines.append("between the cells measured, times are interpolated; the sums are near them")
    elif any(model.leftover is not None for model in regions):
        lines.append("times a correction, interpolated between the cells measured")
    return "\n".join(lines)
