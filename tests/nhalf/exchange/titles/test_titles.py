"""Every row of the coverage: the table that the suite prints for it is read as what it says."""

from __future__ import annotations

import pytest

from nhalf.base.plugins import load
from nhalf.base.rows import Row
from nhalf.exchange.coverage.imb import IMB
from nhalf.exchange.coverage.osu import OSU
from nhalf.exchange.coverage.suite import Test as Entry
from nhalf.exchange.logs.log import read_text
from nhalf.exchange.styles import Style
from nhalf.exchange.titles import axes_of

RANKS = 4
NO_TABLES = ("osu_hello", "-d cuda, D, H, M", "-d rocm", "-d sycl")
"""A test without times, and options of many tests."""
PARTS = {
    "IMB-EXT": "MPI-2 part", "IMB-RMA": "MPI-RMA part", "IMB-P2P": "IMB-P2P part",
    "IMB-MPI4": "MPI-4 part",
}  # fmt: skip


def table(suite: str, entry: Entry) -> str:
    """What nhalf prints for a test, in the suite's form."""
    values = [{"name": name, "value": 1e-6} for name in ("pure_s", "work_s", "overlap")]
    row: Row = {"bytes": 64, "ranks": RANKS, "repetitions": 9, "median_s": 4e-6}
    row |= {"bytes_per_time": 64, "batch": 1, "rank_s": None, "values": values}
    row |= {"pattern": entry.pattern, "axes": entry.axes.replace("ranks/2", str(RANKS // 2))}
    return "\n".join(load("nhalf.exchange.styles", Style)[suite]().table(entry.name, [row]))


def wanted(entry: Entry) -> set[tuple[str, str, str]]:
    """Pattern, transport and axes of the points of a test."""
    axes = entry.axes.replace("ranks/2", str(RANKS // 2))
    points = {(entry.pattern, entry.transport, axes)}
    if "work=1" in axes:
        points.add((entry.pattern, entry.transport, ""))
    if axes == "target=computes":
        points.add((entry.pattern, entry.transport, "target=waits"))
    return points


def found(text: str) -> set[tuple[str, str, str]]:
    return {
        (p.pattern, p.transport, ",".join(f"{k}={p.axes[k]}" for k in sorted(p.axes)))
        for p in read_text(text, RANKS).points
    }


@pytest.mark.parametrize(
    "entry",
    [test for test in OSU.tests if test.is_covered and test.name not in NO_TABLES],
    ids=lambda entry: str(entry.name),
)
def test_tables_of_osu(entry: Entry) -> None:
    if entry.name == "osu_init":
        text = "# OSU MPI Init Test v7.5\nnprocs: 4, min: 2032 ms, max: 2054 ms, avg: 2048 ms\n"
    else:
        text = table("osu", entry)
    # Which of these it was only the command says.
    command = f"srun -n 4 {entry.name}\n" if "fan" in entry.name else ""
    assert found(command + text) == wanted(entry)


REAL = {
    "Latency Persistent": "osu_latency_persistent",
    "Bandwidth Persistent": "osu_bw_persistent",
    "Bi-Directional Bandwidth Persistent": "osu_bibw_persistent",
    "Broadcast Persistent Latency": "osu_bcast_persistent",
    "All-to-All Personalized Exchange Persistent Latency": "osu_alltoall_persistent",
    "Reduce_scatter Persistent Latency": "osu_reduce_scatter_persistent",
    "Neighborhood Alltoall Latency": "osu_neighbor_alltoall",
    "Neighborhood All-to-Allv Latency": "osu_neighbor_alltoallv",
    "Non-blocking Neighborhood Alltoallw Latency": "osu_ineighbor_alltoallw",
    "Non-blocking All-to-Allv Personalized Exchange Latency": "osu_ialltoallv",
    "Non-Blocking Broadcast Latency": "osu_ibcast",
    "Non-blocking Reduce_scatter_block Latency": "osu_ireduce_scatter_block",
    "Multi Latency": "osu_multi_lat",
}


@pytest.mark.parametrize("title", sorted(REAL))
def test_titles_as_the_suite_has_them(title: str) -> None:
    entry = next(test for test in OSU.tests if test.name == REAL[title])
    columns = "Bandwidth (MB/s)" if "Bandwidth" in title else "Avg Latency(us)"
    text = f"# OSU MPI {title} Test v7.4\n# Size   {columns}\n8   3.50\n"
    (point,) = read_text(text, RANKS).points
    assert (point.pattern, point.transport) == (entry.pattern, entry.transport)


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        (test, PARTS.get(title, "MPI-1 part"))
        for title, tests in IMB.parts.items()
        for test in tests
        if test.is_covered and title not in ("IMB-MT", "IMB-HALO", "Others")
    ],
    ids=lambda value: str(getattr(value, "name", "")),
)
def test_tables_of_imb(entry: Entry, part: str) -> None:
    text = table("imb", entry)
    for ending in ("(P2P)", "(EXT)"):
        text = text.replace(f" {ending}", "")
    ranks = 2 if entry.pattern in ("pingpong", "exchange", "stream", "bibw") else RANKS
    text = text.replace(f"#processes = {RANKS}", f"#processes = {ranks}")
    read = found(f"#    Intel(R) MPI Benchmarks 2021.3, {part}\n{text}")
    assert read == wanted(entry)


@pytest.mark.parametrize(
    "entry",
    IMB.parts["IMB-MT"],
    ids=lambda entry: str(entry.name),
)
def test_tables_of_threads(entry: Entry) -> None:
    text = (
        f"# Benchmarking {entry.name}\n# #processes = {RANKS} (threads: 2)\n"
        "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
        "32  100  1.00  3.00  2.00  10.67\n"
    )
    (point,) = read_text(text).points
    assert (point.pattern, dict(point.axes)) == (entry.pattern, axes_of(entry.axes))
