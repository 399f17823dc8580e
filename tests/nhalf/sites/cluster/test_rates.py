"""What is measured between two hosts has passed the link between them, and is fitted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nhalf.sites.lab.network import PAYLOAD_SHARE
from tests.patience import duration

from .conftest import NHALF, Cluster, Journal, nhalf

pytestmark = pytest.mark.slow


def passed_bytes(cluster: Cluster, node: str) -> int:
    """The payload that a node has sent so far."""
    shown = cluster.lab("exec", "--node", node, "--", "tc", "-s", "-json", "qdisc", "show")
    (bucket,) = (queue for queue in json.loads(shown) if queue["kind"] == "tbf")
    return int(bucket["bytes"] * PAYLOAD_SHARE)


@pytest.mark.full
def test_every_measured_byte_passed_the_link(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "run"
    before = passed_bytes(cluster, "n1")
    command = [*NHALF, "run", "--pattern", "stream", "--bytes", "64K:4M", "--placement", "2x1"]
    command += ["--mpi", "mpich", "--launcher", "srun", "--launches", "2", "--budget", duration(4)]
    outcome = cluster.run(*command, "--quiet", "--out", str(out))
    assert outcome.returncode == 0, outcome.stderr
    passed = passed_bytes(cluster, "n1") - before
    points = Journal(out / "journal.jsonl").events("point")
    measured = sum(
        len(point["samples_s"]) * point["batch"] * point["bytes_per_time"] for point in points
    )
    assert 50 << 20 < measured < passed
    fit = nhalf("fit", str(out), "--json")
    assert fit.returncode == 0, fit.stderr
    (model,) = json.loads(fit.stdout)["models"]
    assert model["ranks"] == 2
    assert model["segments"][-1]["r_inf_Bps"] > 0
