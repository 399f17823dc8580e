"""How values are written: in cells and tooltips by their unit, and in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nhalf.base import numbers
from nhalf.base.rows import Row
from nhalf.base.units import SIZE_ENDLESS, format_rate, format_size, format_time

if TYPE_CHECKING:
    from nhalf.facts.machine_states import MachineStates
    from nhalf.facts.overview import LibraryOverview
    from nhalf.machines.machine import Breakpoint
    from nhalf.statistics.intervals import Interval


def between(interval: Interval) -> str:
    """'interval 6.5 to 7.2' for a ratio."""
    return f"interval {ends(interval)}"


def ends(interval: Interval) -> str:
    """'6.5 to 7.2' for a ratio; 'unknown' if the ends would only mislead."""
    if numbers.says_nothing(interval.low, interval.high):
        return numbers.UNKNOWN
    low, high = numbers.times(interval.low), numbers.times(interval.high)
    if low == high:
        return f"{numbers.format_number(interval.low)} to {numbers.format_number(interval.high)}"
    return f"{low} to {high}".replace("x", "")


def size_range(first_bytes: int, last_bytes: int) -> str:
    """'2 MiB to 4 MiB', or one size."""
    first, last = format_size(first_bytes), format_size(last_bytes)
    return first if first == last else f"{first} to {last}"


def weight(ratio: float, base: float, most: float) -> float:
    """Importance that grows with the logarithm of a ratio: a factor of 8 reaches the most."""
    if not ratio > 0:
        return base
    return base + (most - base) * min(1.0, abs(math.log(ratio)) / math.log(8))


def quantile_name(q: float) -> str:
    """'99.9 %'."""
    return f"{numbers.format_number(q * 100, 6)} %"


def quantile_span(low_s: float, high_s: float) -> str:
    """An interval whose upper end may be open: '1.2 µs to 1.3 µs', '1.2 µs or more'."""
    if math.isinf(high_s) and low_s > 0:
        return f"{format_time(low_s)} or more"
    return numbers.span(low_s, high_s, format_time)


def way_name(way: str, block: str) -> str:
    """Name a way to access elements of arrays, as in `facts.memory`, in words."""
    words = {
        "ordinary": "ordinary arrays",
        "openmp": "ordinary arrays, OpenMP",
        "cast": "casts",
        "block": "pointers in a block",
        "pointer": "shared pointers",
        "for-all": "by index",
    }
    return words[way] + ("" if block == "even" else f", blocks of {block}")


ACCESSES = {
    "flush": "flush",
    "flush-local": "local flush",
    "lock": "lock and unlock",
    "lock-all": "lock and unlock of all",
    "fence": "fence",
    "pscw": "post, start, complete, wait",
}


def window_name(way: Mapping[str, str]) -> str:
    """An access to a window of MPI by the axes `access` and `window`, in words."""
    window = "" if way["window"] == "allocate" else f", window: {way['window']}"
    return ACCESSES.get(way["access"], way["access"]) + window


def layout_name(way: Mapping[str, str]) -> str:
    """A layout of data by the axes `layout` and `by`, in words."""
    by = {"type": "data type", "hand": "packed by hand", "pack": "MPI_Pack"}
    return f"{way['layout']}, {by.get(way['by'], way['by'])}"


def threads_name(way: Mapping[str, str]) -> str:
    """Threads of each rank by the axes `threads` and `communicators`, in words."""
    threads = "1 thread" if way["threads"] == "1" else f"{way['threads']} threads"
    return threads + (", communicator each" if way["communicators"] == "each" else "")


def kernel_name(row: Mapping[str, Any]) -> str:
    """A kernel of an application with its class: cg.A."""
    return f"{row['kernel']}.{row['class']}"


def run_by(row: Mapping[str, Any]) -> str:
    """Name what ran an application, with its placement unless it is the usual one."""
    usual = row["placement"] in ("cores", "free", "")
    return str(row["series"]) if usual else f"{row['series']}, {row['placement']}"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: '1 point', '12 points', '2 launches'."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def count_text(number: float) -> str:
    """A count with all its digits, or a mean of counts with four."""
    return numbers.format_number(number, 7 if float(number).is_integer() else 4)


def sentence(text: str) -> str:
    """Text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def interval_text(low_s: float, high_s: float, launches: int) -> str:
    """'210 ns to 225 ns', or why there is none."""
    if launches < 2 or not (math.isfinite(low_s) and math.isfinite(high_s)):
        return "none (needs several launches)"
    if numbers.says_nothing(low_s, high_s):
        return f"{numbers.UNKNOWN} (launches disagree)"
    return numbers.span(low_s, high_s, format_time)


def interval_of(row: Mapping[str, Any]) -> str:
    """The interval of a summarised point, as `interval_text` has it."""
    return interval_text(row["ci_low_s"], row["ci_high_s"], row["launches"])


def exact_size(size_bytes: int) -> str:
    """A size by which it can be measured again: '4 KiB', but '1048577 B' or '1 GiB + 1 B'."""
    if size_bytes % 2**10 == 0 or size_bytes < numbers.MOST:
        return format_size(size_bytes) if size_bytes % 2**10 == 0 else f"{size_bytes} B"
    unit = 2**30 if size_bytes >= 2**30 else 2**20
    beyond_bytes = size_bytes % unit
    if beyond_bytes >= numbers.MOST:
        return format_size(size_bytes)
    return f"{format_size(size_bytes - beyond_bytes)} + {beyond_bytes} B"


def n_half_text(size_bytes: float) -> str:
    """A size that was interpolated: two digits, as much as it is good for; '–' where unknown."""
    if not abs(size_bytes) < SIZE_ENDLESS:
        return numbers.MISSING
    unit, name = next(
        (unit, name)
        for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
        if size_bytes >= unit or unit == 1
    )
    return f"{numbers.format_number(size_bytes / unit, 2)} {name}"


def n_half_ends(entry: LibraryOverview) -> str:
    """'21 KiB to 30 KiB', the interval of n½ over launches; '' if there is none, 'unknown'."""
    low, high = entry.n_half_low_bytes, entry.n_half_high_bytes
    return "" if math.isnan(low) else numbers.span(low, high, n_half_text)


def change_of(change: Breakpoint) -> str:
    """By how much the time is longer, or shorter, beyond a change: '+40 %'."""
    return numbers.percent(change.change_percent / 100, signed=True)


def states_text(machine: MachineStates) -> str:
    """The states of a machine with their shares, and in which one values are reported."""
    from nhalf.statistics.advice import shares_text

    flags = shares_text((state.flag_s, state.share) for state in machine.states)
    text = (
        f"The machine was in {count(len(machine.states), 'state')} with {machine.ranks} ranks on "
        f"{machine.placement}: {flags}"
    )
    if machine.changed_share > 0.005:
        text += f", and {numbers.percent(machine.changed_share)} saw a change"
    text += ". Values and intervals are for the first state"
    if machine.elsewhere:
        elsewhere = f"{machine.elsewhere} of {count(machine.points, 'point')}"
        text += (
            f", but {elsewhere} had too few launches in it and are for another: ignore steps next "
            "to them"
        )
    return f"{text}."


UNITS: Mapping[str, Callable[[Any], str]] = {
    "s": format_time,
    "bytes": format_size,
    "Bps": format_rate,
    "share": numbers.percent,
    "cycles": lambda cycles: numbers.fixed(cycles, 2),
    "concentration": numbers.format_number,
}
"""How values are written, by the last word of their column's name."""
Cell = str | Callable[[Any], str]
"""A column of rows, or a member of objects; or what makes a cell of one."""


def cell(column: str, value: Any) -> str:
    """'1.2 µs' for 1.2e-6 in `median_s`; counts, names and lists as they are, '–' for nothing."""
    if value is None or value == []:
        return numbers.MISSING
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(value)
    write = UNITS.get(
        column.rpartition("_")[2],
        numbers.whole if isinstance(value, int) else numbers.format_number,
    )
    return write(value)


def known(value: Any, form: Callable[[Any], str]) -> str:
    """A value in its form; '–' for one that is not known."""
    return numbers.MISSING if value is None else form(value)


def texts(row: Row, **columns: str) -> Row:
    """The cells of some columns by other names: `size="bytes"` is {'size': '4 KiB'}."""
    return {name: cell(column, row[column]) for name, column in columns.items()}


def line(row: object, columns: Iterable[Cell]) -> list[str]:
    """The cells of one row of a table, from a row or an object."""
    values = row if isinstance(row, Mapping) else None
    return [
        column(row)
        if not isinstance(column, str)
        else cell(column, getattr(row, column) if values is None else values[column])
        for column in columns
    ]
