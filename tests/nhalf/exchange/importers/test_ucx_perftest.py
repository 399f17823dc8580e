"""ucx_perftest: the last row of a table, whose test and size stand elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import read_text

LOGS = Path(__file__).resolve().parents[3] / "data" / "logs"
SAMPLE = (LOGS / "ucx_perftest.txt").read_text()
FRAME, TABLE = SAMPLE.partition("$ ")[0].split("+--------------+", 1)
TABLE = "+--------------+" + TABLE
OLD = """| API:          transport layer                                              |
| Test:         put latency                                                  |
| Data layout:  short                                                        |
| Message size: 8                                                            |
|              |       latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
| # iterations | typical | average | overall |  average |  overall |   average |   overall |
        400000     0.840     0.852     0.852       8.96       8.96     1174000     1174000
       1000000     0.844     0.848     0.851       9.00       8.97     1179245     1175088
"""


def only(text: str) -> Imported:
    (point,) = read_text(text, name="log").points
    return point


def test_the_median_of_a_latency_counts_and_the_overall_rate() -> None:
    latency, rate = read_text(SAMPLE, name="log").points
    assert (latency.pattern, latency.transport, latency.size_bytes) == ("pingpong", "ucp", 1024)
    assert latency.samples_s == pytest.approx([1.95e-6])
    assert latency.values["average_s"] == pytest.approx(2.25e-6)
    assert dict(latency.axes) == {"call": "tag"}
    assert (rate.pattern, rate.transport, rate.size_bytes) == ("put-stream", "ucp", 65536)
    assert dict(rate.axes) == {"memory": "device"}
    assert rate.size_bytes / rate.samples_s[0] == pytest.approx(10000 * 2**20)


def test_old_versions_have_no_stage() -> None:
    point = only(OLD)
    assert (point.pattern, point.transport, point.size_bytes) == ("put-pingpong", "uct", 8)
    assert point.samples_s == pytest.approx([0.844e-6])
    assert dict(point.axes) == {"layout": "short"}


def test_another_percentile_is_not_the_time() -> None:
    point = only((FRAME + TABLE).replace("50.0%ile", "99.9%ile"))
    assert point.samples_s == pytest.approx([2.25e-6])
    assert dict(point.values) == pytest.approx({"p99_9_s": 1.95e-6})


def test_final_numbers_only() -> None:
    rows = TABLE.replace("    Stage     ", "     Test     ").replace("Final:    ", " " * 10)
    rows = "\n".join(line for line in rows.splitlines() if "thread" not in line)
    assert only(FRAME + rows).samples_s == pytest.approx([1.95e-6])


def test_csv() -> None:
    head = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr"
    row = "200000,1.950,2.000,2.250,488.28,434.03,500000,444444"
    assert only(f"{FRAME}\n{head}\n{row}\n").samples_s == pytest.approx([1.95e-6])
    with pytest.raises(InputError, match="does not say the test"):
        read_text(f"{head}\n{row}\n", name="log")


def test_thousands_have_separators() -> None:
    assert only(FRAME + TABLE.replace("200000 ", "200,000")).samples_s == pytest.approx([1.95e-6])


@pytest.mark.parametrize(
    ("command", "pattern", "size_bytes"),
    [
        ("ucx_perftest node1 -t tag_lat -s 1024", "pingpong", 1024),
        ("mpirun -np 2 ./ucx_perftest -s512,512 -t ucp_am_lat", "pingpong", 1024),
        ("ucx_perftest -d mlx5_0:1 \\\n   -x rc_mlx5 -t put_lat -s 1024", "put-pingpong", 1024),
        ("ucx_perftest node1 -t ucp_get -s 1024 -O 1", "get", 1024),
        ("ucx_perftest node1 -t ucp_get -s 1024 -O 16", "get-stream", 1024),
    ],
)
def test_the_command_says_test_and_size(command: str, pattern: str, size_bytes: int) -> None:
    point = only(f"$ {command}\n{TABLE}")
    assert (point.pattern, point.size_bytes) == (pattern, size_bytes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE, "does not say the test"),
        (FRAME.replace("| Message size: ", "| Size:         ") + TABLE, "does not say the size"),
        (FRAME + TABLE + TABLE, "does not say the test"),
        (f"$ ucx_perftest node1 -t tag_lat -s 4k\n{TABLE}", "does not say the size"),
        (f"$ ucx_perftest node1 -t tag_bw -s 1024\n{TABLE}", "does not say the test"),
        # The default is 8 bytes, which is not the size of these rates.
        (f"$ ucx_perftest node1 -t tag_lat\n{TABLE}", "rates are not of messages of 8 bytes"),
        (FRAME.replace("1024", "2048") + TABLE, "rates are not of messages of 2048 bytes"),
        (FRAME + FRAME.replace("tag match", "stream") + TABLE, "does not say the test"),
        (FRAME + TABLE.replace("[thread", "+tag_8k-----+\n[thread"), "does not say the test"),
        (FRAME + TABLE.replace("Final:    ", "tag/small "), "does not say the size"),
        (
            FRAME + TABLE.replace("1.950     2.000     2.250      488.28", "2.250")
            .replace("500000      444444", "444444"),
            "several threads",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_text(text, name="log")


def test_decimal_commas() -> None:
    text = FRAME + "".join(c if c != "." else "," for c in TABLE)
    assert only(text).samples_s == pytest.approx([1.95e-6])
