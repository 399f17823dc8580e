"""Two machines in numbers: the rows of tables, for a terminal and for a page."""

from __future__ import annotations

from nhalf.base.numbers import format_number
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.machines_compared.compare import (
    MachineComparison,
    PatternRatio,
    faster,
    shown_sizes,
)
from nhalf.decide.machines_compared.parameters import MachineParameter
from nhalf.decide.machines_compared.words import factor, labels, times, title

WORDS = {
    "t0_s": "latency t0",
    "r_inf_Bps": "rate r∞",
    "n_half_bytes": "n½",
    "latency_s": "L",
    "send_overhead_s": "o_s",
    "recv_overhead_s": "o_r",
    "gap_s": "g",
    "gap_per_byte_s": "G, 1 MB",
}
"""The usual names of the parameters of one message."""


def value_text(parameter: MachineParameter, value: float | None) -> str:
    """A parameter's value with its unit."""
    if value is None:
        return "–"
    if parameter.name.endswith("_Bps"):
        return format_rate(value)
    if parameter.name.endswith("_bytes"):
        return format_size(round(value))
    return format_time(value * 1e6 if parameter.name == "gap_per_byte_s" else value)


def rows_of(comparison: MachineComparison) -> list[list[str]]:
    """Pattern, place, ranks, size, both times, ratio, and the faster one: a few sizes each."""
    names, rows = labels(comparison), []
    for pattern in comparison.patterns:
        head = [title(pattern), _where(pattern)]
        for curve in pattern.curves:
            ranks = str(curve.ranks)
            sizes = shown_sizes([place.size_bytes for place in curve.places])
            for place in (candidate for candidate in curve.places if candidate.size_bytes in sizes):
                who = faster(place.a_s, place.b_s)
                comparison_text = f"{names[who]}, {times(factor(place))}" if who else "neither"
                size = format_size(place.size_bytes) if pattern.sized else ""
                time_texts = [format_time(place.a_s), format_time(place.b_s)]
                rows.append(
                    [*head, ranks, size, *time_texts, format_number(place.ratio), comparison_text]
                )
                head, ranks = ["", ""], ""
    return rows


def _where(pattern: PatternRatio) -> str:
    """The placement of the ranks, of both machines if it differs; '–' if unknown."""
    a, b = pattern.a.where, pattern.b.where
    return a if a == b else f"{a or '–'} | {b or '–'}"


def titles(comparison: MachineComparison) -> list[tuple[str, bool]]:
    """The columns of `rows_of`, and whether they hold numbers."""
    names = labels(comparison)
    return [
        *(("pattern", False), ("where", False), ("ranks", True), ("size", True)),
        *((names["A"], True), (names["B"], True), ("B / A", True), ("faster", False)),
    ]
