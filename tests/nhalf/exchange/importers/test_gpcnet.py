"""GPCNeT: averages and 99th percentiles, alone and under congestion."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import read_text

LOGS = Path(__file__).resolve().parents[3] / "data" / "logs"
LOAD = (LOGS / "gpcnet_load.txt").read_text()
VERBOSE = """Network Tests v1.3
  Test with 6 MPI ranks (3 nodes)
+-----------------------------------------------------------------------------------------+
|                                  Isolated Network Tests                                 |
+---------------------------------+-------+-------+-------+-----------+-------+-------+------------+
|                            Name |   Min |   Max |   Avg | Avg(Worst)|  99% | 99.9% |      Units |
+---------------------------------+-------+-------+-------+-----------+-------+-------+------------+
|          RR Two-sided Lat (8 B) |   1.0 |   9.0 |   2.0 |       3.0 |  4.0 |   5.0 |       usec |
|     Nat Two-sided BW (131072 B) | 125.0 | 500.0 | 250.0 |     200.0 | 200.0 | 160.0 | MiB/s/rank |
|      Multiple Alltoall (4096 B) | -nan  | -nan  | -nan  |      -nan | -nan |  -nan | MiB/s/rank |
"""


def curves(text: str) -> dict[tuple[str, str], Imported]:
    return {
        (point.pattern, point.axes.get("load", "")): point
        for point in read_text(text, name="log").points
    }


def test_isolated_and_congested_tests_are_different_curves() -> None:
    points = curves(LOAD)
    alone = points["gpcnet-two-sided-latency", ""]
    loaded = points["gpcnet-two-sided-latency", "congestors"]
    assert alone.samples_s == pytest.approx([2.5e-6])
    assert alone.values["p99_s"] == pytest.approx(4.5e-6)
    assert loaded.samples_s == pytest.approx([5e-6])
    assert loaded.values["p99_s"] == pytest.approx(9e-6)
    assert points["gpcnet-allreduce", "congestors"].samples_s == pytest.approx([41e-6])
    # Impact factors are no results.
    assert len(read_text(LOAD).points) == 5


def test_rates_are_those_of_a_rank_in_mebibytes() -> None:
    point = curves(LOAD)["gpcnet-two-sided-bandwidth", ""]
    assert dict(point.axes) == {"order": "random", "synchronization": "barrier", "nodes": "4"}
    assert point.size_bytes / point.samples_s[0] == pytest.approx(4000 * 2**20)
    assert point.size_bytes / point.values["p99_s"] == pytest.approx(2500 * 2**20)


def test_a_load_test_has_the_ranks_of_its_nodes() -> None:
    assert {point.ranks for point in read_text(LOAD).points} == {128}
    (nine,) = {p.ranks for p in read_text(LOAD.replace("640 MPI", "9 MPI")).points}
    assert nine == 9


def test_columns_of_the_verbose_build_have_names() -> None:
    latency, bandwidth = read_text(VERBOSE).points
    assert latency.samples_s == pytest.approx([2e-6])
    assert dict(latency.values) == pytest.approx(
        {
            "minimum_s": 1e-6,
            "maximum_s": 9e-6,
            "average_worst_s": 3e-6,
            "p99_s": 4e-6,
            "p99_9_s": 5e-6,
        }
    )
    assert bandwidth.axes == {"order": "natural"}
    assert bandwidth.values["minimum_s"] == pytest.approx(131072 / (500 * 2**20))
    assert bandwidth.values["maximum_s"] == pytest.approx(131072 / (125 * 2**20))
    assert len(read_text(VERBOSE).passed_over) == 1


def test_congestors_are_named_by_the_test_that_they_disturb() -> None:
    head = "Network Tests running with Congestion Tests (    RR Two-sided Lat Network Test)"
    text = LOAD.replace("Network Tests running with Congestion Tests ", head, 1)
    text = text.replace(
        "|        Multiple Allreduce (8 B) |         41.0 |         47.0 |         usec |",
        "|             Put Incast (4096 B) |        400.0 |        100.0 |   MiB/s/rank |",
    )
    points = curves(text)
    assert points["gpcnet-two-sided-latency", "congestors"].samples_s == pytest.approx([5e-6])
    incast = points["gpcnet-put-incast", "rr-two-sided-lat"]
    assert incast.samples_s == pytest.approx([4096 / (400 * 2**20)])
    assert incast.axes["nodes"] == "16"


def test_a_table_without_its_header_asks_for_the_ranks() -> None:
    text = "\n".join(LOAD.splitlines()[7:])
    assert {point.ranks for point in read_text(text).points} == {0}
    assert {point.ranks for point in read_text(text, ranks=12).points} == {12}
