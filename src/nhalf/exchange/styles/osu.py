"""The tables of the OSU Micro-Benchmarks 7.5, collectives in their full form (-f)."""

from collections.abc import Iterator
from itertools import permutations
from typing import ClassVar

from nhalf.base.rows import Row
from nhalf.exchange import styles
from nhalf.exchange.coverage.osu import ONE_SIDED_TITLES, OPENSHMEM_TITLES, OSU, TITLES
from nhalf.exchange.styles import Style
from nhalf.store.keys import parse_axes

WITHOUT_SIZE = ("osu_fop_latency", "osu_cas_latency", "osu_init", "osu_hello")
OPERATIONS = {
    "bcast": "Broadcast",
    "alltoall": "All-to-All Personalized Exchange",
    "alltoallv": "All-to-Allv Personalized Exchange",
    "alltoallw": "All-to-Allw Personalized Exchange",
}
"""Titles that are not the operation's name."""
PERSISTENT = "_persistent"
XCCL = "osu_xccl_"
"""How tests of NCCL begin; the rest is the name of the test of MPI."""
XCCL_PAIRS = ("osu_xccl_latency", "osu_xccl_bw", "osu_xccl_bibw")
OVERLAP_COLUMNS = ("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)")


PLACES = {"host": "HOST (H)", "managed": "MANAGED (M)", "device": "DEVICE (D)"}


class Osu(Style):
    benchmarks: ClassVar[dict[str, str]] = OSU.benchmarks()
    transports: ClassVar[dict[str, str]] = OSU.transports()
    prints_quantiles = True
    memories = frozenset({*PLACES, *("-".join(sides) for sides in permutations(PLACES, 2))})

    def opening(self, library: str, memory: str = "") -> Iterator[str]:
        yield f"# Measured by nhalf, in the form of the OSU Micro-Benchmarks: {library}"

    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        yield ""
        is_pair = benchmark in XCCL_PAIRS
        memory = parse_axes(rows[0]["axes"]).get("memory", "device" if is_pair else "")
        yield from _heading(benchmark, memory)
        if benchmark == "osu_mbw_mr":
            yield f"# [ pairs: {rows[0]['ranks'] // 2} ] [ window size: {rows[0]['batch']} ]"
        tails = [_tails(benchmark, row) for row in rows]
        columns = [*_columns(benchmark), *tails[0]]
        sized = "barrier" not in benchmark and benchmark not in WITHOUT_SIZE
        head, *more_titles = ["Size", *columns] if sized else columns
        yield f"# {head:<8}" + "".join(f"{title:>{_width(title)}}" for title in more_titles)
        for row, of_row in zip(rows, tails, strict=True):
            cells = [_cell(title, row) for title in _columns(benchmark)]
            cells += [of_row.get(title, "-") for title in tails[0]]
            if sized:
                cells.insert(0, str(row["bytes"]))
            widths = map(_width, more_titles)
            yield f"{cells[0]:<10}" + "".join(
                f"{cell:>{width}}" for cell, width in zip(cells[1:], widths, strict=True)
            )


def _width(title: str) -> int:
    return 12 if title == "Iterations" else max(18, len(title) + 1)


def _heading(benchmark: str, memory: str) -> Iterator[str]:
    """The title, and where the buffers of both sides are; of collectives the title says it."""
    interface, _, title = _title(benchmark).partition(" ")
    of_mpi = benchmark.replace("xccl_", "")
    has_sides = "-" in memory or of_mpi in TITLES | ONE_SIDED_TITLES
    build = "-CUDA" if memory and "-" not in interface else ""
    if memory == "managed" and not has_sides:
        build = "-CUDA MANAGED"
    yield f"# OSU {interface}{build} {title}"
    if not memory or not has_sides:
        return
    first, last = (PLACES[word] for word in (memory.split("-") * 2)[:2])
    sides = ("Rank 0 Memory", "Rank 1 Memory")
    if benchmark not in ONE_SIDED_TITLES:
        sides = ("Send Buffer", "Receive Buffer")
    yield f"# {sides[0]} on {first} and {sides[1]} on {last}"


def _title(benchmark: str) -> str:
    if benchmark.startswith(XCCL):
        return _title(benchmark.replace(XCCL, "osu_")).replace("MPI", "NCCL-CUDA", 1)
    if title := (ONE_SIDED_TITLES | OPENSHMEM_TITLES).get(benchmark):
        return title
    if benchmark in TITLES:
        return f"MPI {TITLES[benchmark]}"
    name = benchmark.removeprefix("osu_")
    operation = name.removesuffix(PERSISTENT)
    kind = "Persistent " if name != operation else ""
    if f"osu_i{operation}" not in Osu.benchmarks:
        operation = operation.removeprefix("i")
        kind = "Non-blocking "
    return f"MPI {kind}{OPERATIONS.get(operation, operation.capitalize())} Latency Test"


def _columns(benchmark: str) -> list[str]:
    if benchmark == "osu_mbw_mr":
        return ["MB/s", "Messages/s"]
    if benchmark == "osu_oshm_put_mr":
        return ["Messages/s"]
    if "bw" in benchmark:
        return ["Bandwidth (MB/s)"]
    means = ("osu_oshm_put", "osu_oshm_get", "osu_xccl_latency")
    if benchmark in TITLES | ONE_SIDED_TITLES or benchmark in means:
        return ["Avg Latency(us)"]
    if "work=1" in Osu.benchmarks[benchmark]:
        return list(OVERLAP_COLUMNS)
    return ["Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"]


def _tails(benchmark: str, row: Row) -> dict[str, str]:
    """The cells of quantiles by title, 'P99 Tail Lat(us)'; a rate is what that share reaches."""
    cells = {}
    for q, time_s in row.get("quantiles", {}).items():
        number = f"P{q * 100:.6g} Tail"
        if "bw" in benchmark:
            rate = row["bytes_per_time"] / time_s / 1e6 if time_s > 0 else float("nan")
            cells[f"{number} BW(MB/s)"] = styles.two_decimals(rate)
        else:
            cells[f"{number} Lat(us)"] = styles.two_decimals(styles.microseconds(time_s))
    return cells


def _cell(title: str, row: Row) -> str:
    if title == "Iterations":
        return str(row["repetitions"])
    return styles.two_decimals(_number(title, row))


def _number(title: str, row: Row) -> float:
    least, largest, mean = styles.over_ranks(row)
    rate = styles.megabytes_per_second(row)
    if title == "Messages/s":
        return rate * 1e6 / row["bytes"] if row["bytes"] else 0.0
    if title == "Overlap(%)":
        return 100 * styles.value(row, "overlap")
    value_names = {"Compute(us)": "work_s", "Pure Comm.(us)": "pure_s"}
    if title in value_names:
        return styles.microseconds(styles.value(row, value_names[title]))
    numbers = {"Min Latency(us)": least, "Max Latency(us)": largest, "Overall(us)": largest}
    numbers |= {"MB/s": rate, "Bandwidth (MB/s)": rate}
    return numbers.get(title, mean)
