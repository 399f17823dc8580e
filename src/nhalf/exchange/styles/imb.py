"""The tables of the Intel MPI Benchmarks 2021."""

from collections.abc import Iterator
from typing import ClassVar

from nhalf.base.rows import Row
from nhalf.exchange import styles
from nhalf.exchange.coverage.imb import BUSY_TARGET, IMB, MEMORIES
from nhalf.exchange.styles import Style

ONE_TIME = ("PingPong", "PingPing", "PingPongAnySource", "PingPingAnySource", "PingPongMT")
RATES = ("Uniband", "Biband", "UniBandMT")


class Imb(Style):
    benchmarks: ClassVar[dict[str, str]] = IMB.benchmarks()
    transports: ClassVar[dict[str, str]] = IMB.transports()
    memories = frozenset(MEMORIES)

    def opening(self, library: str, memory: str = "") -> Iterator[str]:
        build = " (GPU)" if memory else ""
        yield "#" + "-" * 64
        yield f"#    Measured by nhalf, in the form of the Intel(R) MPI Benchmarks{build}"
        yield "#" + "-" * 64
        yield f"# MPI Library           : {library}"
        if memory:
            yield f"# Buffers               : -mem_alloc_type {MEMORIES[memory]}"
        yield "# Times are medians over launches; t_max is what nhalf reports."
        yield "# Collectives start together on synchronised clocks, not after a barrier."

    def closing(self) -> Iterator[str]:
        yield ""
        yield "# All processes entering MPI_Finalize"
        yield ""

    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        columns = _columns(benchmark)
        rule = "#" + "-" * (77 if len(columns) > 5 or "overlap[%]" in columns else 64)
        yield ""
        yield rule
        yield f"# Benchmarking {benchmark} "
        yield f"# #processes = {rows[0]['ranks']} "
        yield rule
        yield "".join(f"{title:>13}" for title in columns)
        for row in rows:
            yield "".join(f"{_cell(title, row):>13}" for title in columns)


def _columns(benchmark: str) -> list[str]:
    if benchmark in ONE_TIME:
        return ["#bytes", "#repetitions", "t[usec]", "Mbytes/sec"]
    if benchmark in RATES:
        return ["#bytes", "#repetitions", "Mbytes/sec", "Msg/sec"]
    size = [] if "barrier" in benchmark.lower() else ["#bytes"]
    if BUSY_TARGET in Imb.benchmarks[benchmark]:
        times = ["t_pure[usec]", "t_ovrl[usec]"]
    elif "work=1" in Imb.benchmarks[benchmark]:
        times = ["t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"]
    else:
        times = ["t_min[usec]", "t_max[usec]", "t_avg[usec]"]
    rate = ["Mbytes/sec"] if benchmark == "Sendrecv" else []
    return [*size, "#repetitions", *times, *rate]


def _cell(title: str, row: Row) -> str:
    if title == "#bytes":
        return str(row["bytes"])
    if title == "#repetitions":
        return str(row["repetitions"])
    if title == "Msg/sec":
        return f"{1 / row['median_s']:.0f}" if row["median_s"] else "0"
    return styles.two_decimals(_number(title, row))


def _number(title: str, row: Row) -> float:
    least, largest, mean = styles.over_ranks(row)
    if title == "Mbytes/sec":
        return styles.megabytes_per_second(row)
    if title == "overlap[%]":
        return 100 * styles.value(row, "overlap")
    value_names = {"t_pure[usec]": "pure_s", "t_CPU[usec]": "work_s"}
    if title in value_names:
        return styles.microseconds(styles.value(row, value_names[title]))
    return {"t_min[usec]": least, "t_avg[usec]": mean}.get(title, largest)
