"""The table of an application's kernels."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nhalf.base.numbers import MISSING, fixed, format_number, percent, span, whole
from nhalf.base.units import format_size, format_time
from nhalf.mpi.transport_files import HYBRID
from nhalf.present.terminal.tables import show_rows
from nhalf.present.wording import Cell, kernel_name, known

MARK = "*"


def show_applications(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for every kernel, class, program and number of ranks."""
    show_rows(rows, COLUMNS)
    for base in sorted({row["speedup_base"] for row in rows if _is_relative(row)}):
        sys.stdout.write(
            f"{MARK} speed-up against {base} ranks or threads, taken as {base} times as fast as "
            "one, which was not measured\n"
        )


def show_traffic(rows: Sequence[Mapping[str, Any]]) -> None:
    """What a run of each kernel sends in closed form, a line for each number of ranks."""
    if rows:
        show_rows(rows, TRAFFIC)


def _messages_per_rank(row: Mapping[str, Any]) -> str:
    fewest, most = whole(row["messages_min"]), whole(row["messages_max"])
    return most if fewest == most else f"{fewest} to {most}"


def _operations(row: Mapping[str, Any]) -> str:
    collectives = [
        f"{whole(call['count'] / row['ranks'])} {call['call']} of {format_size(call['size_bytes'])}"
        for call in row["calls"]
        if call["call"] != "send"
    ]
    return ", ".join(collectives) or MISSING


def _is_relative(row: Mapping[str, Any]) -> bool:
    """Whether a speed-up is against more than one rank or thread."""
    return (row["speedup_base"] or 1) > 1


def _shape(row: Mapping[str, Any]) -> str:
    shape = f"{row['threads']} threads" if row["threads"] > 1 else str(row["ranks"])
    if row["program"] == HYBRID.lower():
        shape = f"{row['ranks']} x {row['threads']} threads"
    return shape if row["placement"] in ("cores", "free") else f"{shape} ({row['placement']})"


def _speedup(row: Mapping[str, Any]) -> str:
    """The speed-up, with a mark if it is not relative to one rank."""
    mark = MARK if _is_relative(row) else ""
    return known(row["speedup"], lambda ratio: fixed(ratio, 2)) + mark


def _verdict(row: Mapping[str, Any]) -> str:
    deviation = known(row["deviation"], lambda share: format_number(share, 1))
    return deviation if row["verified"] else f"{deviation}, not verified"


COLUMNS: dict[str, Cell] = {
    **{"kernel": kernel_name, "program": lambda row: row["mpi"] or row["program"], "ranks": _shape},
    "time": lambda row: format_time(row["time_s"]) if row["time_s"] else MISSING,
    "95 % interval": lambda row: known(
        row["ci_low_s"], lambda low_s: span(low_s, row["ci_high_s"], format_time)
    ),
    "Mop/s": lambda row: known(row["mops"], lambda rate: fixed(rate, 1)),
    "speed-up": _speedup,
    "per rank": lambda row: known(row["efficiency"], percent),
    "waiting": lambda row: known(row["communication_share"], percent),
    "deviation": _verdict,
}
TRAFFIC: dict[str, Cell] = {
    **{"a run sends": kernel_name, "ranks": "ranks", "messages per rank": _messages_per_rank},
    "mean": lambda row: format_size(row["bytes"] / row["messages"]) if row["messages"] else MISSING,
    **{"all bytes": "bytes", "collective operations": _operations},
}
