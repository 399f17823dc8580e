# SPDX-License-Identifier: Apache-2.0
"""OSU: every form of its tables, and which of the printed numbers becomes the time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]


def only(log: Log, pattern: str, **axes: str) -> list[Imported]:
    found = [p for p in log.points if p.pattern == pattern and p.axes == axes]
    assert found, f"no {pattern} {axes}"
    return found


def test_latency_of_two_ranks_is_the_time_one_way(read: Read) -> None:
    log = read("osu_latency_7_5.txt")
    assert [(p.size_bytes, *p.samples_s) for p in log.points] == [
        (1, pytest.approx(3.34e-6)),
        (2, pytest.approx(3.32e-6)),
        (4096, pytest.approx(5.10e-6)),
        (1048576, pytest.approx(120.25e-6)),
    ]
    assert {(p.pattern, p.ranks, p.transport, p.mpi) for p in log.points} == {
        ("pingpong", 2, "mpi", "imported")
    }
    assert [p.bytes_per_time for p in log.points] == [p.size_bytes for p in log.points]


def test_older_headers_say_the_same(read: Read) -> None:
    points = read("osu_latency_5_9.txt").points
    assert [(p.pattern, p.size_bytes, p.samples_s[0]) for p in points] == [
        ("pingpong", 0, pytest.approx(0.98e-6)),
        ("pingpong", 8, pytest.approx(1.03e-6)),
        ("pingpong", 1024, pytest.approx(1.79e-6)),
    ]


def test_the_largest_of_the_ranks_is_taken_where_it_is_printed(read: Read) -> None:
    four, eight, large = only(read("osu_full_7_2.txt"), "allreduce")
    assert four.samples_s == pytest.approx([14.25e-6])
    assert four.values == pytest.approx({"average_s": 11.69e-6, "minimum_s": 9.5e-6})
    assert (four.verified, eight.verified, large.verified) == (True, False, True)
    assert large.size_bytes == 100000


def test_ranks_come_from_the_launcher_unless_the_user_knows_better(read: Read) -> None:
    assert {p.ranks for p in read("osu_full_7_2.txt").points} == {16}
    assert {p.ranks for p in read("osu_full_7_2.txt", 12).points} == {12}
    # Two ranks are two, whatever was started.
    assert {p.ranks for p in read("osu_latency_7_5.txt", 12).points} == {2}
    silent = read_text("# OSU MPI Broadcast Latency Test v7.5\n# Size  Avg Latency(us)\n8  3.5\n")
    assert [p.ranks for p in silent.points] == [0]


def test_a_barrier_has_no_size(read: Read) -> None:
    (barrier,) = only(read("osu_full_7_2.txt"), "barrier")
    assert (barrier.size_bytes, barrier.bytes_per_time) == (0, 0)
    assert barrier.samples_s == pytest.approx([2.53e-6])


@pytest.mark.parametrize(
    ("title", "pattern"),
    [
        ("MPI Broadcast Latency Test v5.3", "bcast"),
        ("MPI Scatter Latency Test v7.5", "scatter"),
        ("MPI Gather Latency Test", "gather"),
        ("MPI Allgather Latency Test v7.5", "allgather"),
        ("MPI All-to-All Personalized Exchange Latency Test v5.6.3", "alltoall"),
        ("MPI All-to-Allv Personalized Exchange Latency Test v5.6.3", "alltoallv"),
        ("MPI Reduce Latency Test v7.5", "reduce"),
        ("MPI Allreduce Latency Test v7.5", "allreduce"),
        ("MPI Reduce_scatter Latency Test v7.5", "reduce-scatter"),
        ("MPI Non-blocking Allgatherv Latency Test v5.6.3", "iallgatherv"),
        ("MPI Non-blocking All-to-All Latency Test v5.6.3", "ialltoall"),
        ("MPI Multi-threaded Latency Test v5.6.3", "multi-threaded-latency"),
        ("MPI_Get Latency Test v5.6.3", "get-latency"),
        ("", "unnamed"),
    ],
)
def test_titles_become_patterns(title: str, pattern: str) -> None:
    text = f"# OSU {title}\n# Size          Latency (us)\n8        3.50\n"
    assert [p.pattern for p in read_text(text, 4).points] == [pattern]


def test_rates_become_the_time_of_one_message(read: Read) -> None:
    log = read("osu_bandwidth.txt", 8)
    small, large = only(log, "stream")
    assert small.samples_s == pytest.approx([0.5e-6])
    assert small.values == pytest.approx({"p50_Bps": 2.1e6, "p99_Bps": 1.9e6})
    # Megabytes are 10^6 bytes.
    assert large.samples_s == pytest.approx([1e6 / 12.5e9])
    (both,) = only(log, "bibw")
    assert both.bytes_per_time / both.samples_s[0] == pytest.approx(25e9)
    assert both.bytes_per_time == 2 * both.size_bytes


def test_pairs_are_an_axis(read: Read) -> None:
    log = read("osu_bandwidth.txt", 8)
    small, large = only(log, "pairs-bandwidth", pairs="4")
    assert (small.ranks, small.bytes_per_time) == (8, 4)
    assert small.samples_s == pytest.approx([4 / 8e6])
    assert large.bytes_per_time / large.samples_s[0] == pytest.approx(20e9)
    assert small.values == {"window": 64.0}
    (latency,) = only(log, "pairs-latency", pairs="4")
    assert (latency.ranks, latency.bytes_per_time) == (8, 8)
    assert latency.samples_s == pytest.approx([4.25e-6])


def test_overlap_is_a_point_of_its_own(read: Read) -> None:
    log = read("osu_nonblocking.txt")
    pure, _ = only(log, "ibcast", memory="cuda")
    busy, _ = only(log, "ibcast", memory="cuda", work="1")
    assert pure.samples_s == pytest.approx([5.5e-6])
    assert busy.samples_s == pytest.approx([11.09e-6])
    assert busy.values["overlap"] == pytest.approx(0.25)
    assert busy.values["work_s"] == pytest.approx(6.1e-6)
    assert busy.values["pure_s"] == pytest.approx(5.18e-6)
    assert pure.ranks == busy.ranks == 8
    (barrier,) = only(log, "ibarrier", work="1")
    assert (barrier.size_bytes, *barrier.samples_s) == (0, pytest.approx(9e-6))


def test_one_sided_and_start_up(read: Read) -> None:
    log = read("osu_nonblocking.txt")
    (put,) = only(log, "put-latency", window="allocate", synchronization="flush")
    assert put.samples_s == pytest.approx([2.25e-6])
    (init,) = only(log, "init")
    assert (init.ranks, *init.samples_s) == (144, pytest.approx(2.054))
    assert init.values == pytest.approx({"average_s": 2.048, "minimum_s": 2.032})


def test_percentiles_are_kept(read: Read) -> None:
    (point,) = only(read("osu_nonblocking.txt"), "reduce-scatter")
    assert point.values == pytest.approx({"p50_s": 4.5e-6, "p90_s": 6.5e-6, "p99_s": 9.25e-6})


def test_what_is_too_short_to_be_printed_is_no_point_and_no_damage() -> None:
    text = "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n0   0.00\n8   1.00\n"
    log = read_text(text)
    assert [p.size_bytes for p in log.points] == [8]
    assert log.passed_over == []


@pytest.mark.parametrize(
    "row", ["8", "8 1.0 2.0", "8 nan", "8 -1.0", "8 inf", "8.5 1.0", "-8 1.0", "8 1e300", "9e99 1"]
)
def test_rows_that_are_not_whole_are_told(row: str) -> None:
    text = f"# OSU MPI Latency Test v7.5\n# Size   Avg Latency(us)\n{row}\n16    2.50\n"
    log = read_text(text)
    assert [p.size_bytes for p in log.points] == [16]
    assert [(p.line, p.text) for p in log.passed_over] == [(3, row)]


def test_one_number_that_is_none_makes_the_row_none() -> None:
    text = (
        "# OSU MPI Bcast Latency Test v7.5\n"
        "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)\n8 inf 1.00 2.00\n16 1.5 1 2\n"
    )
    log = read_text(text, 4)
    assert [p.size_bytes for p in log.points] == [16]
    assert [p.line for p in log.passed_over] == [3]
