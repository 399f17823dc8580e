"""Models of patterns over sizes and ranks: tables for people, JSON for scripts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nhalf.base.carrier import carrier
from nhalf.base.numbers import UNKNOWN, half_width_text, percent
from nhalf.base.units import format_size
from nhalf.machines.machine import PatternModel, Range
from nhalf.models.terms import in_words
from nhalf.store.keys import CURVE, parse_axes, without

if TYPE_CHECKING:
    from rich.table import Table

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
    return [_table(list(regions)) for _, regions in grouped]


def _table(regions: Sequence[PatternModel]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(_title(regions[0]), style="bold"),
        title_justify="left",
        caption=Text(_caption(regions), style="dim"),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
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


def _title(model: PatternModel) -> str:
    words = [model.pattern, model.algorithm, carrier(model.mpi, model.transport), model.placement]
    ranks = f"p = {model.from_ranks} to {model.to_ranks} ranks"
    return ", ".join(filter(None, [*words, model.axes, ranks]))


def _caption(regions: Sequence[PatternModel]) -> str:
    first, lines = regions[0], []
    if first.heldout_median is not None and first.heldout_p95 is not None:
        lines.append(
            f"error on cells left out of the fit: median {percent(first.heldout_median, 1)}, "
            f"95 % below {percent(first.heldout_p95, 1)} ({first.heldout_cells} cells)"
        )
    if first.heldout_ranks_median is not None and first.heldout_ranks_p95 is not None:
        lines.append(
            f"on numbers of ranks left out: median {percent(first.heldout_ranks_median, 1)}, "
            f"95 % below {percent(first.heldout_ranks_p95, 1)}"
        )
    if first.leftover is not None and first.leftover.whole:
        lines.append("between the cells measured, times are interpolated; the sums are near them")
    elif any(model.leftover is not None for model in regions):
        lines.append("times a correction, interpolated between the cells measured")
    return "\n".join(lines)
