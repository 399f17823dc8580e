"""mpiGraph: the matrix, whose megabytes are 2^20 bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nhalf.exchange.logs.log import Log

Read = Callable[..., Log]


def test_every_pair_is_a_point_by_its_sender(read: Read) -> None:
    log = read("mpigraph.txt")
    times_s = {(p.axes["first"], p.axes["second"]): p.samples_s[0] for p in log.points}
    # A message of 1 MiB at 1000 MB/s takes 1 ms only where MB is 2^20.
    assert times_s == pytest.approx(
        {
            ("0", "1"): 1e-3, ("0", "2"): 2e-3, ("1", "0"): 1.25e-3,
            ("1", "2"): 2.5e-3, ("2", "0"): 4e-3, ("2", "1"): 5e-3,
        }
    )  # fmt: skip
    assert {(p.pattern, p.ranks, p.size_bytes) for p in log.points} == {("distance", 3, 1 << 20)}


def test_what_the_receiver_saw_is_kept_with_the_pair(read: Read) -> None:
    (point,) = (p for p in read("mpigraph.txt").points if p.axes["first"] == "1" > p.axes["second"])
    assert point.values == pytest.approx({"window": 50, "receive_s": 1 / 640})


def test_the_header_of_1_6(read: Read) -> None:
    first, second = read("mpigraph_1_6.txt").points
    assert (first.size_bytes, first.ranks) == (4 << 20, 2)
    assert (4 << 20) / first.samples_s[0] == pytest.approx(11234.567 * 2**20)
    assert (second.axes["first"], second.axes["second"]) == ("1", "0")


def test_a_row_that_lost_a_column_is_passed_over(read: Read, logs: object) -> None:
    from nhalf.exchange.logs.log import read_text

    text = "START mpiGraph v1\nMsgSize\t8\nProcs\t3\nSend\ta:0\tb:1\tc:2\t\na:0 to\t0.0\t1.0\n"
    log = read_text(f"{text}b:1 to\t2.0\t0.0\t4.0\t\n")
    assert {p.axes["first"] for p in log.points} == {"1"}
    assert [p.line for p in log.passed_over] == [5]
