"""OSU: every form of its tables, and which of the printed numbers becomes the time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nhalf.base.errors import InputError
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
        ("MPI Reduce_scatter Latency Test v7.5", "reduce-scatterv"),
        ("MPI Reduce_scatter_block Latency Test v7.5", "reduce-scatter"),
        ("MPI Non-blocking Allgatherv Latency Test v5.6.3", "iallgatherv"),
        ("MPI Non-blocking All-to-All Latency Test v5.6.3", "ialltoall"),
        ("MPI Multi-threaded Latency Test v5.6.3", "pingpong-threads"),
        ("MPI_Get Latency Test v5.6.3", "rma-get"),
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
    pure, _ = only(log, "ibcast", memory="device")
    busy, _ = only(log, "ibcast", memory="device", work="1")
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
    (put,) = only(log, "rma-put")
    assert put.transport == "rma"
    assert put.samples_s == pytest.approx([2.25e-6])
    (init,) = only(log, "startup", part="init")
    assert (init.ranks, *init.samples_s) == (144, pytest.approx(2.054))
    assert init.values == pytest.approx({"average_s": 2.048, "minimum_s": 2.032})


def test_percentiles_are_kept(read: Read) -> None:
    (point,) = only(read("osu_nonblocking.txt"), "reduce-scatterv")
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


CUDA = """mpirun -np 2 ./osu_latency H H
# OSU MPI-CUDA Latency Test v6.1
# Send Buffer on HOST (H) and Receive Buffer on HOST (H)
# Size          Latency (us)
16                      1.00
mpirun -np 2 ./osu_latency D H
# OSU MPI-CUDA Latency Test v7.3
# Send Buffer on DEVICE (D) and Receive Buffer on MANAGED (MH)
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
16                     25.00
"""


def test_where_buffers_are_is_an_axis() -> None:
    host, device = read_text(CUDA).points
    assert dict(host.axes) == {}
    assert dict(device.axes) == {"memory": "device-managed"}
    assert device.head["managed"] == "mh"
    assert device.head["accelerator"] == "cuda"
    text = (
        "# OSU MPI_Put-ROCM Latency Test v7.2\n# Window creation: MPI_Win_create\n"
        "# Synchronization: MPI_Win_lock/unlock\n# Datatype: MPI_CHAR.\n"
        "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)\n"
        "# Size          Latency (us)\n8    3.00\n"
    )
    (put,) = read_text(text).points
    assert (put.pattern, put.transport) == ("rma-put", "rma")
    assert dict(put.axes) == {
        "memory": "device-host", "window": "create", "access": "lock",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("window", "synchronization", "axes"),
    [
        ("MPI_Win_allocate", "MPI_Win_flush", {}),
        ("MPI_Win_create", "MPI_Win_fence", {"window": "create", "access": "fence"}),
        ("MPI_Win_create_dynamic", "MPI_Win_flush", {"window": "dynamic"}),
        ("MPI_Win_allocate", "MPI_Win_flush_local", {"access": "flush-local"}),
        ("MPI_Win_allocate", "MPI_Win_lock_all/unlock_all", {"access": "lock-all"}),
        ("MPI_Win_allocate", "MPI_Win_post/start/complete/wait", {"access": "pscw"}),
    ],
)  # fmt: skip
def test_windows_have_the_axes_of_nhalf(
    window: str, synchronization: str, axes: dict[str, str]
) -> None:
    text = (
        f"# OSU MPI_Accumulate latency Test v5.9\n# Window creation: {window}\n"
        f"# Synchronization: {synchronization}\n# Size          Latency (us)\n8    3.00\n"
    )
    assert [(p.pattern, dict(p.axes)) for p in read_text(text).points] == [("rma-accumulate", axes)]


def test_both_ways_count_in_the_rate_of_bidirectional_puts() -> None:
    text = "# OSU MPI_Put{} Test v6.1\n# Size      Bandwidth (MB/s)\n1000      500.00\n"
    (both,) = read_text(text.format(" Bi-directional Bandwidth")).points
    assert both.samples_s == pytest.approx([4e-6])
    assert (both.bytes_per_time, dict(both.axes)) == (2000, {"operations": "64", "ways": "both"})
    (one,) = read_text(text.format(" Bandwidth")).points
    assert one.samples_s == pytest.approx([2e-6])
    assert one.bytes_per_time == 1000


def test_numbers_have_no_size() -> None:
    text = "# OSU MPI_Fetch_and_op latency Test v5.8\n# Size          Latency (us)\n8  0.45\n"
    assert [(p.pattern, p.size_bytes) for p in read_text(text).points] == [("rma-fetch-and-op", 0)]


@pytest.mark.parametrize(
    ("above", "below", "axes"),
    [
        ("# Number of Sender threads: 4 \n# Number of Receiver threads: 4\n", "", {"threads": "4"}),
        ("", "# Number of Sender threads: 1\n# Number of Receiver threads: 8\n",
         {"threads": "8", "senders": "1"}),
        ("", "", {"threads": "2"}),
    ],
)  # fmt: skip
def test_threads_are_an_axis(above: str, below: str, axes: dict[str, str]) -> None:
    text = (
        f"{above}# OSU MPI Multi-threaded Latency Test v7.2\n{below}# Size   Latency (us)\n8 3.5\n"
    )
    (point,) = read_text(text).points
    assert dict(point.axes) == {"communicators": "one", **axes}


def test_python_is_another_curve_and_gigabytes_are_no_megabytes() -> None:
    text = "# OMB-Py MPI Bandwidth Test\n# Size (B)      Bandwidth ({})\n1000    2.00\n"
    (slow,) = read_text(text.format("MB/s")).points
    (fast,) = read_text(text.format("GB/s")).points
    assert (*slow.samples_s, *fast.samples_s) == pytest.approx((500e-6, 0.5e-6))
    assert (slow.pattern, dict(slow.axes)) == ("stream", {"language": "python"})
    text = "# OMB Python MPI Latency Test\n# Size (B)      Latency ({})\n8    2.00\n"
    for unit, factor in (("us", 1e-6), ("ms", 1e-3), ("usec", 1e-6)):
        assert read_text(text.format(unit)).points[0].samples_s == pytest.approx([2 * factor])


def test_a_command_of_another_test_says_no_ranks_and_one_of_a_fan_names_it() -> None:
    table = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1000      300.00\n"
    (fan,) = read_text(f"srun -n 4 osu_bw_fan_in\n{table}").points
    assert (fan.pattern, fan.ranks, fan.bytes_per_time) == ("many-to-one", 4, 3000)
    assert fan.samples_s == pytest.approx([10e-6])
    other = "# OSU MPI Gather Latency Test v7.4\n# Size       Avg Latency(us)\n8   5.00\n"
    log = read_text(f"srun -n 8 ./osu_bcast\n{other}")
    assert [p.ranks for p in log.points] == [0]


def test_types_of_data_are_an_axis_unless_they_are_usual() -> None:
    text = "# OSU MPI {} Latency Test v7.3\n# Datatype: {}.\n# Size  Avg Latency(us)\n8   5.00\n"
    for title, kind, axes in (
        ("Allreduce", "MPI_INT", {}),
        ("Broadcast", "MPI_CHAR", {}),
        ("Broadcast", "MPI_FLOAT", {"datatype": "mpi-float"}),
    ):
        assert dict(read_text(text.format(title, kind), 4).points[0].axes) == axes


def test_a_rate_of_an_unknown_test_is_refused() -> None:
    text = "# OSU MPI_Get Multiple Bandwidth Test v7.4\n# Size  Bandwidth (MB/s)\n8   5.00\n"
    with pytest.raises(InputError, match="which messages its rate counts is not known"):
        read_text(text, 4, "log")


def test_a_time_that_is_too_short_leaves_the_other_one() -> None:
    text = (
        "# OSU MPI Non-blocking Broadcast Latency Test v5.8\n"
        "# Size   Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)\n8  0.00  0.00  3.50  0.0\n"
    )
    log = read_text(text, 4)
    assert [(p.samples_s[0], dict(p.axes)) for p in log.points] == [(pytest.approx(3.5e-6), {})]


def test_tables_pasted_as_markdown_are_read() -> None:
    text = (
        "# OSU MPI Latency Test v7.3\n| Size | Latency (us) |\n|------|-----|\n| 8 | 1.50 |\n"
        "| 16 | 2.50 |\n"
    )
    assert [p.size_bytes for p in read_text(text).points] == [8, 16]


@pytest.mark.parametrize(
    ("unit", "time_s"),
    [("MB/s", 1e-3), ("GB/s", 1e-6), ("Mb/s", 8e-3), ("Gbit/s", 8e-6), ("Gbps", 8e-6),
     ("MiB/s", 1e-3 / 1.048576)],
)  # fmt: skip
def test_bits_and_bytes(unit: str, time_s: float) -> None:
    text = f"# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth ({unit})\n1000  1.00\n"
    (point,) = read_text(text, name="log").points
    assert point.samples_s == pytest.approx([time_s])


def test_a_unit_that_may_be_bits_or_bytes_is_none() -> None:
    text = "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (gb/s)\n1000  1.00\n"
    assert len(read_text(text).passed_over) == 1


@pytest.mark.parametrize(
    "text",
    [
        # Lines of two runs.
        "# OSU MPI Bandwidth Test v5.6\n# OSU MPI Latency Test v5.6\n# Size      Bandwidth (MB/s)\n"
        "# Size          Latency (us)\n64 100.00\n64 1.00\n",
        # A title without its columns, and columns without their title.
        "# OSU MPI Latency Test v5.6\n# Size      Bandwidth (MB/s)\n64 100.00\n",
        "# OSU MPI Bandwidth Test v5.6\n# Size      Latency (us)\n64 100.00\n",
        "# OSU MPI Latency Test v5.6\n# Size      Latency (us)\n64 1.00\n"
        "# Size      Bandwidth (MB/s)\n64 100.00\n",
    ],
)
def test_columns_of_another_table_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="columns of another one"):
        read_text(text, name="log")


def test_headings_of_spack_name_the_library() -> None:
    table = "# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n1    {}\n"
    text = (
        "openmpi@1.10.7%intel@19.0.5.281 osu_latency\n" + table.format("0.30")
        + "mpich@3.3.2%gcc@10.2.0 osu_latency\n" + table.format("0.20")
        + "mpich@3.3.2%intel@19.0.5 osu_latency\n" + table.format("0.25")
        + table.format("0.40")
    )  # fmt: skip
    points = read_text(text, name="log").points
    libraries = ["openmpi-1.10.7", "mpich-3.3.2", "mpich-3.3.2", "imported"]
    assert [point.mpi for point in points] == libraries
    assert points[1].head["library"] != points[2].head["library"]


def test_tables_of_gpu_memory_and_of_nccl(read: Read) -> None:
    latency, large, allreduce, mixed, managed = read("osu_gpu.txt", 4).points
    assert (latency.pattern, latency.transport, latency.ranks) == ("pingpong", "nccl", 2)
    assert large.samples_s == pytest.approx([96.5e-6])
    assert (allreduce.pattern, allreduce.transport, allreduce.ranks) == ("allreduce", "nccl", 4)
    # NCCL knows no other memory: its points are those of nccl-tests.
    assert dict(latency.axes) == dict(allreduce.axes) == {}
    assert (mixed.transport, dict(mixed.axes)) == ("mpi", {"memory": "device-host"})
    assert (managed.pattern, dict(managed.axes)) == ("bcast", {"memory": "managed"})
