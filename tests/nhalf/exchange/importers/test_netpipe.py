"""NetPIPE: the screen of two generations, and np.out with three to five columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]


def curve(log: Log) -> list[tuple[int, ...]]:
    assert {(p.pattern, p.ranks) for p in log.points} == {("pingpong", 2)}
    return [(p.size_bytes, *p.samples_s) for p in log.points]


def test_the_screen_of_3(read: Read) -> None:
    assert curve(read("netpipe_3.txt")) == [
        (1, pytest.approx(1.67e-6)),
        (2, pytest.approx(1.65e-6)),
        (3, pytest.approx(1.66e-6)),
        (64, pytest.approx(2.00e-6)),
    ]


def test_the_screen_of_5_with_its_units_and_colours(read: Read) -> None:
    # Megabytes have three decimals: perturbed sizes fall together, as samples of one point.
    assert curve(read("netpipe_5.txt")) == [
        (1, pytest.approx(1.562e-6)),
        (1536, pytest.approx(2e-6)),
        (8389000, pytest.approx(1e-3), pytest.approx(1.1e-3)),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("netpipe_3_np.out", [(1, 1.67e-6), (64, 2e-6), (1048576, 1.04858e-3)]),
        ("netpipe_3_short_np.out", [(1, 1.67e-6), (64, 2e-6), (1048576, 1e-3)]),
        ("netpipe_5_np.out", [(1, 1.5e-6), (1000, 2e-6), (1048576, 100e-6)]),
    ],
)
def test_the_file(read: Read, name: str, expected: list[tuple[int, float]]) -> None:
    log = read(name)
    assert curve(log) == [(size, pytest.approx(time_s)) for size, time_s in expected]
    assert log.passed_over == []


def test_numbers_that_do_not_agree_are_no_np_out() -> None:
    assert read_text("1 2.0 3.0\n4 5.0 6.0\n").suites == []
    log = read_text("64 256.000000 0.00000200\n128 17.0 0.00000200\n")
    assert [p.size_bytes for p in log.points] == [64]
    assert [p.line for p in log.passed_over] == [2]


@pytest.mark.parametrize(
    ("line", "transport"),
    [
        ("Send and receive buffers are 16384 and 87380 bytes", "tcp"),
        ("/usr/bin/NPtcp -h 10.0.0.1", "tcp"),
        ("mpirun -np 2 NPmpi", "mpi"),
        ("mpirun -np 2 NPibverbs", "ibverbs"),
        ("", "mpi"),
    ],
)
def test_the_module_is_the_transport(line: str, transport: str) -> None:
    text = (
        f"{line}\nNow starting the main loop\n  0:  8 bytes 9 times -->  64.00 Mbps in  1.00 usec\n"
    )
    assert [p.transport for p in read_text(text).points] == [transport]


def test_wrong_data_is_told() -> None:
    row = "0:  8 bytes 9 times -->  64.00 Mbps in  1.00 usec"
    assert [p.verified for p in read_text(row).points] == [True]
    wrong = read_text(f"{row} (integrity problems!!!)")
    assert [p.verified for p in wrong.points] == [False]


def test_a_second_screen_is_another_table(read: Read) -> None:
    row = "Now starting the main loop\n  0:  8 bytes 9 times -->  64.00 Mbps in  1.00 usec\n"
    first, second = read_text(row + row).points
    assert first.table != second.table


def test_seconds_of_2_4_and_their_few_digits() -> None:
    text = """Latency: 0.000040
Now starting main loop
  0:        16 bytes 3000 times -->    3.05 Mbps in 0.000040 sec
  1:      1024 bytes 1500 times -->  130.21 Mbps in 0.000060 sec
  2:      1024 bytes 1500 times -->  3906.25 Mbps in 0.000002 sec
"""
    times_s = [time_s for point in read_text(text).points for time_s in point.samples_s]
    assert times_s == pytest.approx([40e-6, 60e-6, 2e-6])
