"""A real Prometheus scrapes the endpoint, and finds what is served."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nhalf.exchange.metrics import LOOPBACK, families_of_job, served
from nhalf.measure.traced.live import RankCounts
from nhalf.statistics.latecomers import Straggler
from tests.patience import patience_s

PROMETHEUS = shutil.which("prometheus")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(PROMETHEUS is None, reason="no prometheus here (apt-get install)"),
]
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs: [{{job_name: nhalf, static_configs: [{{targets: ["{address}"]}}]}}]
"""
DASHBOARD = Path(__file__).parents[3] / "packaging/grafana/dashboard.json"


def free_port() -> int:
    with served(LOOPBACK, 0, list) as url:
        return urllib.parse.urlsplit(url).port or 0


def asked(port: int, expression: str) -> list[Any]:
    """What Prometheus answers; nothing while it starts."""
    words = urllib.parse.urlencode({"query": expression})
    place = f"http://{LOOPBACK}:{port}/api/v1/query?{words}"
    try:
        with urllib.request.urlopen(place, timeout=patience_s(10)) as answer:
            result: list[Any] = json.loads(answer.read())["data"]["result"]
            return result
    except OSError:
        return []


def until_answered(port: int, expression: str) -> list[Any]:
    end_s = time.monotonic() + patience_s(60)
    while not (answer := asked(port, expression)):
        assert time.monotonic() < end_s, expression
        time.sleep(0.2)
    return answer


def test_prometheus_finds_the_straggler_and_answers_the_dashboard(tmp_path: Path) -> None:
    began_s = time.monotonic()

    def families() -> Any:
        passed_s = time.monotonic() - began_s
        counts = [
            RankCounts(rank, f"n{rank}", np.full((4, 5), passed_s), passed_s, is_up=True)
            for rank in range(2)
        ]
        late = Straggler("n1", (1,), True, 1.9, 0.97, 1e9)
        return families_of_job(counts, "MPICH 5.0.2", {0: 0.5, 1: 1.9}, [late])

    port = free_port()
    with served(LOOPBACK, 0, families) as url:
        address = urllib.parse.urlsplit(url).netloc
        file = tmp_path / "prometheus.yml"
        file.write_text(CONFIGURATION.format(address=address))
        words = [f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'data'}"]
        words += [f"--web.listen-address={LOOPBACK}:{port}"]
        command = [str(PROMETHEUS), *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, **quiet) as prometheus:
            try:
                (late,) = until_answered(port, "nhalf_straggler == 1")
                assert late["metric"]["host"] == "n1"
                panels = json.loads(DASHBOARD.read_text())["panels"]
                for target in (target for panel in panels for target in panel["targets"]):
                    until_answered(port, target["expr"].replace("$__rate_interval", "10s"))
            finally:
                prometheus.kill()
