"""The table of an application's kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nhalf.base.numbers import MISSING, fixed, format_number, percent, span, whole
from nhalf.base.units import format_size, format_time
from nhalf.present.terminal.tables import show_table
from nhalf.present.wording import kernel_name

COLUMNS = (
    *("kernel", "program", "ranks", "time", "95 % interval", "Mop/s", "speed-up", "per rank"),
    *("waiting", "deviation"),
)
TRAFFIC_COLUMNS = (
    *("a run sends", "ranks", "messages per rank", "mean", "all bytes", "collective operations"),
)
MARK = "*"


def show_applications(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for every kernel, class, program and number of ranks."""
    show_table(COLUMNS, [_cells(row) for row in rows])
    for base in sorted({row["speedup_base"] for row in rows if _is_relative(row)}):
        sys.stdout.write(
            f"{MARK} speed-up against {base} ranks or threads, taken as {base} times as fast as "
            "one, which was not measured\n"
        )


def show_traffic(rows: Sequence[Mapping[str, Any]]) -> None:
    """What a run of each kernel sends in closed form, a line for each number of ranks."""
    if rows:
        show_table(TRAFFIC_COLUMNS, [_traffic_cells(row) for row in rows])


def _traffic_cells(row: Mapping[str, Any]) -> list[str]:
    fewest, most = row["messages_min"], row["messages_max"]
    collectives = [
        f"{whole(call['count'] / row['ranks'])} {call['call']} of {format_size(call['size_bytes'])}"
        for call in row["calls"]
        if call["call"] != "send"
    ]
    messages = row["messages"]
    return [
        kernel_name(row),
        str(row["ranks"]),
        whole(most) if fewest == most else f"{whole(fewest)} to {whole(most)}",
        format_size(row["bytes"] / messages) if messages else MISSING,
        format_size(row["bytes"]),
        ", ".join(collectives) or MISSING,
    ]


def _is_relative(row: Mapping[str, Any]) -> bool:
    """Whether a speed-up is against more than one rank or thread."""
    return (row["speedup_base"] or 1) > 1


def _cells(row: Mapping[str, Any]) -> list[str]:
    where = row["mpi"] or row["program"]
    shape = f"{row['threads']} threads" if row["threads"] > 1 else str(row["ranks"])
    return [
        kernel_name(row),
        where,
        shape if row["placement"] in ("cores", "free") else f"{shape} ({row['placement']})",
        format_time(row["time_s"]) if row["time_s"] else "–",
        _interval(row["ci_low_s"], row["ci_high_s"]),
        _number(row["mops"], lambda rate: fixed(rate, 1)),
        _speedup(row),
        _number(row["efficiency"], percent),
        _number(row["communication_share"], percent),
        _verdict(row),
    ]


def _interval(low_s: float | None, high_s: float | None) -> str:
    """An interval in words, where it says anything."""
    return MISSING if low_s is None or high_s is None else span(low_s, high_s, format_time)


def _speedup(row: Mapping[str, Any]) -> str:
    """The speed-up, with a mark if it is not relative to one rank."""
    mark = MARK if _is_relative(row) else ""
    return _number(row["speedup"], lambda ratio: fixed(ratio, 2)) + mark


def _verdict(row: Mapping[str, Any]) -> str:
    deviation = _number(row["deviation"], lambda share: format_number(share, 1))
    return deviation if row["verified"] else f"{deviation}, not verified"


def _number(value: float | None, form: Callable[[float], str]) -> str:
    return MISSING if value is None else form(value)
