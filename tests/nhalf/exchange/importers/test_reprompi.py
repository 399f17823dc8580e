"""ReproMPI: its rows are samples; with -v they are processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]


def test_every_repetition_is_a_sample(read: Read) -> None:
    allreduce, bcast = read("reprompi_raw.txt").points
    assert (allreduce.pattern, allreduce.ranks, allreduce.raw) == ("allreduce", 4, True)
    assert list(allreduce.samples_s) == [1.09819e-05, 3.0911e-06, 2.9809e-06]
    # Ten elements of four bytes.
    assert allreduce.size_bytes == bcast.size_bytes == 40
    assert bcast.samples_s == [2e-6]


def test_processes_become_operations_on_the_global_clock(read: Read) -> None:
    (point,) = read("reprompi_verbose.txt").points
    # First start to last end; the third repetition missed its window.
    assert point.samples_s == pytest.approx([25e-6, 35e-6], rel=1e-6)
    assert point.rank_s == pytest.approx([10e-6, 25e-6], rel=1e-6)
    assert (point.ranks, point.size_bytes, point.raw) == (2, 8, True)


def test_local_clocks_give_the_longest_process() -> None:
    text = """#@nprocs=2
process  test  nrep  count  loc_tstart_sec  loc_tend_sec
0  MPI_Scan  0  8  1.0  1.25
1  MPI_Scan  0  8  77.0  77.5
0  MPI_Scan  1  8  2.0  2.25
"""
    (point,) = read_text(text).points
    # The second repetition lacks a process.
    assert (point.pattern, *point.samples_s) == ("scan", 0.5)


def test_a_summary_gives_its_median(read: Read) -> None:
    small, _ = read("reprompi_summary.txt").points
    assert small.samples_s == [2.7941e-06]
    assert not small.raw
    assert small.values == {
        "average_s": 3.8767e-06, "minimum_s": 2.2941e-06, "maximum_s": 9.7081e-06,
    }  # fmt: skip


def test_sizes_in_bytes_are_not_multiplied() -> None:
    text = (
        "#@datatype_size_bytes=4\n#@nprocs=2\ntest nrep msize_bytes runtime_sec\n"
        "MPI_Bcast 0 40 0.000001\n"
    )
    assert [p.size_bytes for p in read_text(text).points] == [40]


@pytest.mark.parametrize(
    "row", ["MPI_Bcast 0 8 nan", "MPI_Bcast 0 8 -0.1", "MPI_Bcast 0 -8 0.1", "MPI_Bcast 0 0.1"]
)
def test_rows_that_are_not_sound_are_told(row: str) -> None:
    log = read_text(f"#@nprocs=2\ntest nrep count runtime_sec\nMPI_Bcast 0 8 0.000001\n{row}\n")
    assert [p.samples_s for p in log.points] == [[1e-6]]
    told = [p.line for p in log.passed_over]
    assert told == ([] if row.endswith("nan") else [4])
