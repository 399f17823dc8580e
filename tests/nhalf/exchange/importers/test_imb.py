"""IMB: tables by their columns' names, groups, modes, defects and an early end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]


def only(log: Log, pattern: str, **axes: str) -> list[Imported]:
    found = [p for p in log.points if p.pattern == pattern and p.axes == axes]
    assert found, f"no {pattern} {axes}"
    return found


def test_the_largest_time_of_the_ranks_is_taken(read: Read) -> None:
    (allreduce,) = only(read("imb_mpi1.txt"), "allreduce")
    assert (allreduce.size_bytes, allreduce.ranks) == (8, 4)
    assert allreduce.samples_s == pytest.approx([18.59e-6])
    assert allreduce.values == pytest.approx(
        {"average_s": 11.69e-6, "minimum_s": 4.5e-6, "repetitions": 1000}
    )
    (barrier,) = only(read("imb_mpi1.txt"), "barrier")
    assert (barrier.size_bytes, *barrier.samples_s) == (0, pytest.approx(2.75e-6))


def test_ping_pong_and_its_defects(read: Read) -> None:
    zero, one, large = only(read("imb_mpi1.txt"), "pingpong")
    assert (zero.size_bytes, *zero.samples_s) == (0, pytest.approx(0.25e-6))
    assert one.samples_s == pytest.approx([0.5e-6])
    assert (one.verified, large.verified) == (True, False)
    # The printed rate, of 10^6 or of 2^20 bytes, is not needed.
    assert large.samples_s == pytest.approx([512e-6])


def test_sendrecv_of_two_ranks_is_an_exchange_and_of_more_a_ring(read: Read) -> None:
    (two,) = only(read("imb_mpi1.txt"), "exchange")
    (four,) = only(read("imb_mpi1.txt"), "sendrecv")
    assert (two.ranks, two.bytes_per_time) == (2, 16)
    assert (four.ranks, four.bytes_per_time) == (4, 16)
    (exchange,) = only(read("imb_mpi1.txt"), "ring", method="nonblocking", ring="6")
    # Every rank sends to both neighbours.
    assert (exchange.ranks, exchange.bytes_per_time) == (4, 64)


def test_rates_of_several_pairs(read: Read) -> None:
    zero, large = only(read("imb_mpi1.txt"), "pairs-bandwidth", pairs="2")
    assert zero.samples_s == pytest.approx([2 / 4e6])
    assert large.bytes_per_time / large.samples_s[0] == pytest.approx(4096e6)


@pytest.mark.parametrize(
    ("name", "ranks", "pattern", "time_s", "bytes_per_time"),
    [
        ("Uniband", 2, "stream", 1e-6, 1000),
        ("Uniband", 6, "pairs-bandwidth", 3e-6, 3000),
        ("Biband", 2, "bibw", 2e-6, 2000),
    ],
)
def test_a_rate_counts_messages_of_all(
    name: str, ranks: int, pattern: str, time_s: float, bytes_per_time: int
) -> None:
    text = (
        f"# Benchmarking {name}\n# #processes = {ranks}\n"
        "  #bytes #repetitions   Mbytes/sec      Msg/sec\n  1000  10  1000.00  1000000\n"
    )
    (point,) = read_text(text).points
    assert (point.pattern, point.bytes_per_time) == (pattern, bytes_per_time)
    assert point.samples_s == pytest.approx([time_s])


def test_the_library_is_named_by_itself_and_not_by_the_standard(read: Read) -> None:
    assert {p.mpi for p in read("imb_mpi1.txt").points} == {"intel-2021.5"}
    text = (
        "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n# MPI Version           : 3.1\n"
        "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
        "8 10 1.00 8.00\n"
    )
    assert [p.mpi for p in read_text(text).points] == ["imported"]
    assert {p.mpi for p in read("imb_groups.txt").points} == {"imported"}


def test_an_early_end_is_told_and_zero_is_not_a_time(read: Read) -> None:
    log = read("imb_mpi1.txt")
    assert [p.line for p in log.passed_over] == [62]
    assert log.passed_over[0].text.startswith("16 time-out.; Time limit")
    assert not any(p.pattern == "allreduce" and p.size_bytes == 0 for p in log.points)


def test_groups_that_ran_at_once_are_apart(read: Read) -> None:
    log = read("imb_groups.txt")
    (first,) = only(log, "pairs-latency", pairs="2", group="0")
    (second,) = only(log, "pairs-latency", pairs="2", group="1")
    assert (first.ranks, *first.samples_s) == (4, pytest.approx(4.5e-6))
    assert second.samples_s == pytest.approx([5.5e-6])
    (bcast,) = only(log, "bcast", groups="2")
    assert (bcast.ranks, *bcast.samples_s) == (4, pytest.approx(0.75e-6))


def test_overlap_is_a_point_of_its_own(read: Read) -> None:
    log = read("imb_groups.txt")
    (pure,) = only(log, "ibcast")
    (busy,) = only(log, "ibcast", work="1")
    assert (*pure.samples_s, *busy.samples_s) == pytest.approx((1.25e-6, 2e-6))
    assert busy.values == pytest.approx(
        {"overlap": 0.1, "pure_s": 1.25e-6, "work_s": 0.75e-6, "repetitions": 1000}
    )


def test_modes_of_one_sided_tests_are_an_axis(read: Read) -> None:
    log = read("imb_groups.txt")
    (plain,) = only(log, "rma-put")
    (aggregate,) = only(log, "rma-put", mode="aggregate")
    assert (*plain.samples_s, *aggregate.samples_s) == pytest.approx((7e-6, 0.5e-6))


def test_rows_below_the_frame_of_another_table_are_not_read() -> None:
    text = (
        "# Benchmarking PingPong\n# #processes = 2\n#---\n#bytes #repetitions t[usec] Mbytes/sec\n"
        "8 10 1.00 8.00\n#---\n16 10 2.00 8.00\n"
    )
    log = read_text(text)
    assert [p.size_bytes for p in log.points] == [8]
    assert [p.line for p in log.passed_over] == [7]


def test_pallas_writes_processes_in_parentheses() -> None:
    text = """#    PALLAS MPI Benchmark Suite V2.2, MPI-1 part
# Benchmarking Bcast
# ( #processes = {} )
# ( 4 additional processes waiting in MPI_Barrier)
#------
 #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
 64         1000         5.00         {}         5.50
"""
    log = read_text(text.format(2, "6.00") + text.format(6, "20.00"))
    assert [(p.ranks, p.samples_s[0]) for p in log.points] == [
        (2, pytest.approx(6e-6)), (6, pytest.approx(20e-6)),
    ]  # fmt: skip


def test_a_pure_time_is_read_beside_one_of_zero() -> None:
    text = (
        "# Benchmarking Truly_passive_put\n# #processes = 2\n"
        "#bytes #repetitions   t_pure[usec] t_ovrl[usec]\n16  100  3.00  0.00\n64  100  4.00  5.0\n"
    )
    log = read_text(text)
    assert {point.pattern for point in log.points} == {"rma-put"}
    waits, computes = {"target": "waits"}, {"target": "computes"}
    assert [(p.samples_s[0], dict(p.axes)) for p in log.points] == [
        (pytest.approx(3e-6), waits), (pytest.approx(4e-6), waits), (pytest.approx(5e-6), computes),
    ]  # fmt: skip


HEADER = "#    Intel(R) MPI Benchmarks {}, MPI-1 part\n"
SUMS = (
    "# Benchmarking {}\n# #processes = 4\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
    "64  100  1.00  3.00  2.00\n"
)


@pytest.mark.parametrize(
    ("version", "name", "pattern", "size"),
    [
        ("2018", "Reduce_scatter", "reduce-scatterv", 64),
        ("2021.3", "Reduce_scatter", "reduce-scatterv", 256),
        ("2021.3", "Reduce_scatter_block", "reduce-scatter", 256),
        ("2021.3", "Ireduce_scatter_pure", "ireduce-scatterv", 256),
        ("2021.3", "Allreduce", "allreduce", 64),
    ],
)
def test_a_vector_is_scattered_whose_size_may_be_that_of_a_block(
    version: str, name: str, pattern: str, size: int
) -> None:
    (point,) = read_text(HEADER.format(version) + SUMS.format(name)).points
    assert (point.pattern, point.size_bytes) == (pattern, size)


@pytest.mark.parametrize(
    ("part", "name", "pattern", "axes"),
    [
        ("MPI-2 part", "Unidir_Put", "rma-put", {"access": "fence"}),
        ("MPI-2 part", "Accumulate", "rma-accumulate", {"access": "fence"}),
        ("MPI-2 part", "Bidir_Get", "rma-get", {"access": "fence", "ways": "both"}),
        ("MPI-2 part", "Window", "rma-window", {}),
        ("MPI-RMA part", "Accumulate", "rma-accumulate", {}),
        ("MPI-RMA part", "Bidir_put", "rma-put", {"ways": "both"}),
        ("MPI-RMA part", "All_get_all", "rma-get-all", {"who": "all-to-all"}),
        ("IMB-P2P part", "PingPong", "pairs-latency", {"pairs": "2"}),
        ("MPI-4 part", "Bcast_persist_pure", "bcast-persistent", {}),
    ],
)
def test_names_are_those_of_the_part_of_the_suite(
    part: str, name: str, pattern: str, axes: dict[str, str]
) -> None:
    header = f"#    Intel(R) MPI Benchmarks 2021.7, {part}\n"
    (point,) = read_text(header + SUMS.format(name)).points
    assert (point.pattern, dict(point.axes)) == (pattern, axes)
    assert point.transport == ("rma" if pattern.startswith("rma") else "mpi")


def test_sizes_of_threads_are_those_of_one() -> None:
    text = (
        "# Benchmarking PingPongMT\n# #processes = 2 (threads: 4)\n#----\n"
        "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
        "32  100  1.00  3.00  2.00  10.67\n"
    )
    (point,) = read_text(text).points
    assert (point.pattern, point.size_bytes, point.bytes_per_time) == ("pingpong-threads", 8, 32)
    assert dict(point.axes) == {"communicators": "each", "threads": "4"}


def test_mixed_lines_of_two_tables_are_refused() -> None:
    text = """# Intel(R) MPI Benchmarks 2018, MPI-1 part
# Benchmarking PingPong
# Benchmarking Bcast
# #processes = 4
       #bytes #repetitions      t[usec]   Mbytes/sec
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.50         0.70         0.60
"""
    with pytest.raises(InputError, match="columns of another one"):
        read_text(text, name="log")


def test_a_ping_pong_of_many_processes_is_one_of_pairs() -> None:
    text = """# Intel(R) MPI Benchmarks 2019 Update 6, P2P part
# Benchmarking PingPong
# #processes = 8
       #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
            8         1000         0.60       100.00      1000000
"""
    (point,) = read_text(text, name="log").points
    assert (point.pattern, point.axes["pairs"]) == ("pairs-latency", "4")


def test_the_memory_of_the_gpu_build_is_an_axis(read: Read) -> None:
    pinned, _, device, _ = read("imb_gpu.txt").points
    # What the suite calls host is page-locked by the driver; it takes device memory unless asked.
    assert (pinned.pattern, dict(pinned.axes)) == ("pingpong", {"memory": "pinned"})
    assert (device.pattern, dict(device.axes)) == ("pingpong", {"memory": "device"})


@pytest.mark.parametrize(
    ("asked", "axes"),
    [("cpu", {}), ("shared", {"memory": "managed"}), ("device", {"memory": "device"})],
)
def test_the_command_may_say_the_memory(logs: Path, asked: str, axes: dict[str, str]) -> None:
    text = (logs / "imb_gpu.txt").read_text("utf-8").replace(" -mem_alloc_type host", "")
    command = f"mpirun -np 2 ./IMB-MPI1-GPU PingPong -mem_alloc_type {asked}\n"
    assert dict(read_text(command + text).points[0].axes) == axes
