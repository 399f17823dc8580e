"""Metrics that a parser of OpenMetrics takes, and lines of InfluxDB."""

from __future__ import annotations

import json
import math
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.influx import Influx
from nhalf.exchange.exporters.openmetrics import OpenMetrics
from nhalf.exchange.metrics import (
    LOOPBACK,
    families_of_job,
    influx,
    openmetrics,
    parse_address,
    served,
)
from nhalf.facts.facts import Facts
from nhalf.measure.traced.live import RankCounts
from nhalf.statistics.latecomers import Straggler
from tests.nhalf.traced_programs import program, sent
from tests.patience import patience_s

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "packaging/grafana/dashboard.json"
PAGE = ROOT / "docs/guide/slow-node.md"
NAME = re.compile(r"\bnhalf_\w+")
HOST = 'node "0" \\ of,b=c\nd'
"""What no host is called, with all that has to be escaped."""

BY_WAY = {"bcast native": np.array([5, 40, 0.5, 0.1]), "bcast chain": np.array([7, 56, 0.2, 0.0])}


def job(ranks: int = 3) -> str:
    counts = [
        RankCounts(rank, HOST, np.arange(20.0).reshape(4, 5), 1.5, rank > 0, BY_WAY, 0.25)
        for rank in range(ranks)
    ]
    late = Straggler(HOST, (2,), False, 1.9, 0.97, 1e9)
    return openmetrics(families_of_job(counts, "MPICH 5.0.2", {0: 0.5, 1: 1.0}, [late]))


def values(text: str) -> dict[tuple[str, str, str], float]:
    """By name, rank and kind, as the parser reads them."""
    return {
        (sample.name, sample.labels.get("rank", ""), sample.labels.get("kind", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_job_as_a_parser_of_openmetrics_reads_it() -> None:
    samples = values(job())
    assert samples["nhalf_mpi_calls_total", "0", "sent"] == 0
    assert samples["nhalf_mpi_bytes_total", "1", "received"] == 6
    assert samples["nhalf_mpi_time_seconds_total", "1", "collective"] == 13
    assert samples["nhalf_mpi_waiting_seconds_total", "2", "waiting"] == 19
    assert samples["nhalf_computing_seconds_total", "2", ""] == 1.5
    assert [samples["nhalf_straggler", str(rank), ""] for rank in range(3)] == [0, 0, 1]
    assert [samples["nhalf_rank_up", str(rank), ""] for rank in range(3)] == [0, 1, 1]
    assert samples["nhalf_rank_lateness_ratio", "0", ""] == 0.5
    assert math.isnan(samples["nhalf_rank_lateness_ratio", "2", ""])
    assert samples["nhalf_collective_saved_seconds", "1", ""] == 0.25
    families = list(text_string_to_metric_families(job()))
    calls = {
        tuple(sample.labels[name] for name in ("rank", "operation", "way")): sample.value
        for family in families
        for sample in family.samples
        if sample.name == "nhalf_collective_calls_total"
    }
    assert calls["2", "bcast", "chain"] == 7
    assert calls["0", "bcast", "native"] == 5
    assert {sample.labels["host"] for family in families for sample in family.samples
            if family.name != "nhalf_job"} == {HOST}  # fmt: skip


def test_the_parser_would_see_a_wrong_name() -> None:
    with pytest.raises(ValueError, match="nhalf"):
        list(text_string_to_metric_families(job().replace("_total{", "{")))


def test_a_job_without_ranks_is_still_text() -> None:
    assert job(0).endswith("# EOF\n")
    assert values(job(0)) == {("nhalf_job_info", "", ""): 1}


def served_names() -> set[str]:
    return {name for name, _, _ in values(job())}


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    asked = {
        name
        for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel["targets"]
        for name in NAME.findall(target["expr"])
    }
    assert asked == served_names()


def test_the_page_names_every_metric() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in NAME.findall(row)} == served_names()


def test_no_two_panels_of_the_dashboard_overlap() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    taken = [
        (column, row)
        for at in (panel["gridPos"] for panel in panels)
        for column in range(at["x"], at["x"] + at["w"])
        for row in range(at["y"], at["y"] + at["h"])
    ]
    assert len(taken) == len(set(taken))
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_a_trace_as_it_was_at_its_end() -> None:
    traced = program(2, sent({(0, 1): 3}, time_s=0.1), elapsed_s=2.0)
    samples = values(OpenMetrics().text(traced))
    assert samples["nhalf_mpi_calls_total", "0", "sent"] == 3
    assert samples["nhalf_mpi_bytes_total", "1", "received"] == 3 * 1024
    assert samples["nhalf_computing_seconds_total", "1", ""] == pytest.approx(1.9)
    assert "nhalf_rank_up" not in {name for name, _, _ in samples}
    lines = Influx().text(traced).splitlines()
    assert "nhalf_mpi_calls_total,host=node0,kind=sent,rank=0 value=3.0 2000000000" in lines


@pytest.fixture
def facts(make_measurements: Callable[..., pl.LazyFrame]) -> Facts:
    frame = make_measurements(libraries=("mpich-5.0.2", "openmpi-5.0.11"), sizes=(0, 8), launches=3)
    return Facts(frame)


def test_a_run_by_points(facts: Facts) -> None:
    text = OpenMetrics().text(facts)
    families = {family.name: family for family in text_string_to_metric_families(text)}
    times = families["nhalf_point_time_seconds"].samples
    assert {(s.labels["mpi"], s.labels["bytes"]) for s in times} == {
        (mpi, size) for mpi in ("mpich-5.0.2", "openmpi-5.0.11") for size in ("0", "8")
    }
    expected = dict(facts.summary.select("bytes", "median_s").iter_rows())
    assert all(s.value > 0 for s in times)
    assert any(s.value == pytest.approx(expected[8]) for s in times)
    of_mpich = OpenMetrics(ExportOptions(mpi="mpich-5.0.2")).text(facts)
    assert "openmpi" not in of_mpich
    assert of_mpich.count("nhalf_point_time_seconds{") == 2


def test_nothing_to_export_is_an_error(facts: Facts) -> None:
    with pytest.raises(InputError, match="no sound points"):
        OpenMetrics(ExportOptions(mpi="intel")).text(facts)
    with pytest.raises(InputError, match="needs measurements"):
        OpenMetrics().text(None)


def test_influx_lines_escape_tags_and_leave_out_what_is_no_number() -> None:
    counts = [RankCounts(0, "a b,c=d", np.zeros((4, 5)), 0.0, is_up=True)]
    text = influx(families_of_job(counts, "MPICH 5", {0: math.nan}, []))
    assert "host=a\\ b\\,c\\=d" in text
    assert "nan" not in text
    line = re.compile(r"\w+(,\w+=([^ ,=\\]|\\.)+)* value=[-+.e\d]+")
    unmatched: list[Any] = [row for row in text.splitlines() if not line.fullmatch(row)]
    assert unmatched == []


ACCEPTED = "application/openmetrics-text; version=1.0.0"


def families() -> list[Metric]:
    family = Metric("nhalf_rank_up", "Whether it runs.", "gauge")
    family.add_sample("nhalf_rank_up", {"rank": "0"}, 1.0)
    return [family]


def asked(url: str, path: str = "/metrics", method: str = "GET") -> tuple[str, str]:
    """The answer, and its type."""
    request = urllib.request.Request(
        url.replace("/metrics", path), headers={"Accept": ACCEPTED}, method=method
    )
    with urllib.request.urlopen(request, timeout=patience_s(30)) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("9400", LOOPBACK, 9400),
        ("0.0.0.0:9400", "0.0.0.0", 9400),
        ("[::1]:80", "::1", 80),
        ("node3:0", "node3", 0),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)


@pytest.mark.parametrize("text", ["", ":", ":9400", "x", "host:", "1:-1", "65536", "9400x", "²"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputError, match="no address"):
        parse_address(text)


def test_a_request_is_answered_with_openmetrics() -> None:
    with served(LOOPBACK, 0, families) as url:
        assert url.startswith("http://127.0.0.1:")
        text, kind = asked(url)
    assert kind.startswith("application/openmetrics-text")
    (family,) = text_string_to_metric_families(text)
    assert family.samples[0].value == 1.0


def test_no_path_leads_to_anything_else() -> None:
    with served(LOOPBACK, 0, families) as url:
        assert asked(url, "/etc/passwd")[0] == asked(url, "/../..")[0] == asked(url)[0]
        with pytest.raises(urllib.error.HTTPError):
            asked(url, method="POST")


def test_nothing_listens_afterwards() -> None:
    with served(LOOPBACK, 0, families) as url:
        pass
    with pytest.raises(urllib.error.URLError):
        asked(url)


def test_a_port_that_is_taken_is_one_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot listen at"), served(LOOPBACK, port, families):
            pass


def test_a_host_that_there_is_not_is_one_clear_error() -> None:
    host = "no.such.host.invalid"
    with pytest.raises(InputError, match="cannot listen at"), served(host, 0, families):
        pass
