# SPDX-License-Identifier: Apache-2.0
"""The tables of the OSU Micro-Benchmarks 7.5, collectives in their full form (-f)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nhalf.base.rows import Row
from nhalf.exchange import styles
from nhalf.exchange.styles import Style

TITLES = {
    "osu_latency": "Latency Test",
    "osu_bw": "Bandwidth Test",
    "osu_multi_lat": "Multi Latency Test",
    "osu_mbw_mr": "Multiple Bandwidth / Message Rate Test",
}
OPERATIONS = {
    "bcast": "Broadcast",
    "scatter": "Scatter",
    "gather": "Gather",
    "allgather": "Allgather",
    "alltoall": "All-to-All Personalized Exchange",
    "alltoallv": "All-to-Allv Personalized Exchange",
    "reduce": "Reduce",
    "allreduce": "Allreduce",
    "reduce_scatter": "Reduce_scatter",
    "barrier": "Barrier",
}
OVERLAP_COLUMNS = ("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)")


class Osu(Style):
    benchmarks: ClassVar[dict[str, str]] = {
        "osu_latency": "pingpong",
        "osu_bw": "stream",
        "osu_multi_lat": "pairs-latency",
        "osu_mbw_mr": "pairs-bandwidth",
        **{f"osu_{name}": name.replace("_", "-") for name in OPERATIONS},
        **{f"osu_i{name}": f"i{name.replace('_', '-')}" for name in OPERATIONS},
    }

    def opening(self, library: str) -> Iterator[str]:
        yield f"# Measured by nhalf, in the form of the OSU Micro-Benchmarks: {library}"

    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        yield ""
        yield f"# OSU MPI {_title(benchmark)}"
        if benchmark == "osu_mbw_mr":
            yield f"# [ pairs: {rows[0]['ranks'] // 2} ] [ window size: {rows[0]['batch']} ]"
        columns = _columns(benchmark)
        sized = not benchmark.endswith("barrier")
        head, *others = ["Size", *columns] if sized else columns
        yield f"# {head:<8}" + "".join(f"{title:>{_width(title)}}" for title in others)
        for row in rows:
            cells = [_cell(title, row) for title in columns]
            if sized:
                cells.insert(0, str(row["bytes"]))
            widths = map(_width, others)
            yield f"{cells[0]:<10}" + "".join(
                f"{cell:>{width}}" for cell, width in zip(cells[1:], widths, strict=True)
            )


def _width(title: str) -> int:
    return 12 if title == "Iterations" else 18


def _title(benchmark: str) -> str:
    if benchmark in TITLES:
        return TITLES[benchmark]
    name = benchmark.removeprefix("osu_")
    if name in OPERATIONS:
        return f"{OPERATIONS[name]} Latency Test"
    return f"Non-blocking {OPERATIONS[name[1:]]} Latency Test"


def _columns(benchmark: str) -> list[str]:
    if benchmark == "osu_mbw_mr":
        return ["MB/s", "Messages/s"]
    if benchmark == "osu_bw":
        return ["Bandwidth (MB/s)"]
    if benchmark in TITLES:
        return ["Avg Latency(us)"]
    if benchmark.removeprefix("osu_") in OPERATIONS:
        return ["Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"]
    return list(OVERLAP_COLUMNS)


def _cell(title: str, row: Row) -> str:
    if title == "Iterations":
        return str(row["repetitions"])
    return f"{_number(title, row):.2f}"


def _number(title: str, row: Row) -> float:
    least, largest, mean = styles.over_ranks(row)
    rate = styles.megabytes_per_second(row)
    if title == "Messages/s":
        return rate * 1e6 / row["bytes"] if row["bytes"] else 0.0
    if title == "Overlap(%)":
        return 100 * styles.value(row, "overlap")
    named = {"Compute(us)": "work_s", "Pure Comm.(us)": "pure_s"}
    if title in named:
        return styles.microseconds(styles.value(row, named[title]))
    others = {"Min Latency(us)": least, "Max Latency(us)": largest, "Overall(us)": largest}
    others |= {"MB/s": rate, "Bandwidth (MB/s)": rate}
    return others.get(title, mean)
