"""perftest: the typical latency, and rates in its units."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.logs.log import read_text

LATENCY = """                    {} Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
 2       1000          1.00           5.00         1.20     	       1.25
"""
RATE = """                    {} BW Test
 #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]
 65536      1000           0.00             1000.00              0.015
"""


@pytest.mark.parametrize(
    ("title", "pattern"),
    [("Send", "pingpong"), ("RDMA_Write", "put-pingpong"), ("RDMA_Read", "get")],
)
def test_the_typical_latency_counts(title: str, pattern: str) -> None:
    (point,) = read_text(LATENCY.format(title)).points
    assert (point.pattern, point.transport, point.size_bytes) == (pattern, "verbs", 2)
    assert point.samples_s == pytest.approx([1.2e-6])
    assert point.values["average_s"] == pytest.approx(1.25e-6)


@pytest.mark.parametrize(
    ("unit", "rate_Bps"), [("MB/sec", 1000 * 2**20), ("MiB/sec", 1000 * 2**20), ("Gb/sec", 1.25e11)]
)
def test_rates_have_units(unit: str, rate_Bps: float) -> None:
    (one,) = read_text(RATE.format("RDMA_Write", unit=unit)).points
    (two,) = read_text(RATE.format("Send Bidirectional", unit=unit)).points
    assert (one.pattern, dict(one.axes)) == ("put-stream", {})
    assert dict(two.axes) == {"ways": "both"}
    for point in (one, two):
        assert point.bytes_per_time / point.samples_s[0] == pytest.approx(rate_Bps)
    assert two.bytes_per_time == 2 * 65536


def test_a_table_without_its_title_is_refused() -> None:
    with pytest.raises(InputError, match="does not name the test of perftest"):
        read_text(LATENCY.format("Send").partition("\n")[2], name="log")


def test_a_title_is_that_of_its_own_table() -> None:
    read, sent = LATENCY.format("RDMA_Read"), LATENCY.format("Send")
    with pytest.raises(InputError, match="does not name the test of perftest"):
        read_text(read + sent.partition("\n")[2], name="log")
    with pytest.raises(InputError, match="test of atomic"):
        read_text(read + LATENCY.format("Atomic FETCH_AND_ADD"), name="log")
    with pytest.raises(InputError, match="does not name the test of perftest"):
        read_text(LATENCY.format("RDMA_Read").replace("Latency Test", "BW Test"), name="log")


def test_the_command_is_a_title() -> None:
    table = RATE.format("", unit="MB/sec").partition("\n")[2]
    (one,) = read_text(f"$ ib_read_bw -d mlx5_0 node1\n{table}", name="log").points
    (two,) = read_text(f"$ ib_write_bw -d mlx5_0 -b node1\n{table}", name="log").points
    assert (one.pattern, one.bytes_per_time) == ("get-stream", 65536)
    assert (two.pattern, two.bytes_per_time) == ("put-stream", 2 * 65536)


def test_other_queue_pairs_are_another_curve() -> None:
    head = " Number of qps   : {}\t\tTransport type : IB\n #bytes     #iterations"
    text = "".join(
        RATE.format("RDMA_Write", unit="MB/sec").replace(" #bytes     #iterations", head.format(q))
        for q in (1, 8)
    )
    heads = [point.head["number-of-qps"] for point in read_text(text, name="log").points]
    assert heads == ["1", "8"]


def test_memory_of_a_gpu_is_an_axis() -> None:
    table = """                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             11000.00            10500.00            0.168000
"""
    gpu = "cuMemAlloc() of a 131072 bytes GPU buffer\n"
    for text in (f"$ ib_write_bw --use_cuda=0 n2\n{table}", gpu + table):
        (device,) = read_text(text).points
        assert dict(device.axes) == {"memory": "device"}
    first, second = read_text(gpu + table + table).points
    assert (dict(first.axes), dict(second.axes)) == ({"memory": "device"}, {})
