"""A link of a fifth of the rate is named by the pair map; where all are equal, nobody is.

Links are so slow that they take the time, whatever else the machine does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import NHALF, Cluster

pytestmark = pytest.mark.slow
NODES = ("n1", "n2", "n3", "n4")


def pair_maps(cluster: Cluster, out: Path, *what: str) -> list[dict[str, Any]]:
    """The rows of a pair map of all hosts."""
    command = [*NHALF, "run", *what, "--launcher", "srun", "--placement", "every-host"]
    # It ends after its launches: nothing misses such a precision.
    command += ["--mpi", "mpich", "--launches", "3", "--precision", "0.9", "--budget", "300s"]
    command += ["--out", str(out), "--json"]
    outcome = cluster.run(*command)
    assert outcome.returncode == 0, outcome.stderr
    rows: list[dict[str, Any]] = json.loads(outcome.stdout)["results"]["pair_map"]["rows"]
    return rows


@pytest.fixture
def slow_links(cluster: Cluster) -> Iterator[None]:
    """All at 200 Mbit/s."""
    for node in NODES:
        cluster.lab("link", node, "--rate", "200mbit")
    yield
    for node in NODES:
        cluster.lab("link", node, "--rate", "1gbit")


@pytest.mark.full
@pytest.mark.usefixtures("slow_links")
def test_a_slow_link_has_a_name(cluster: Cluster, tmp_path: Path) -> None:
    cluster.lab("link", "n3", "--rate", "40mbit")
    what = ("--pattern", "pair-map-bandwidth", "--bytes", "64K")
    rows = pair_maps(cluster, tmp_path / "slow", *what)
    bandwidth = next(row for row in rows if row["pattern"] == "pair-map-bandwidth")
    assert bandwidth["level"] == "hosts"
    assert [(one["kind"], one["members"]) for one in bandwidth["slow"]] == [("node", ["n3"])]


@pytest.mark.full
@pytest.mark.usefixtures("slow_links")
def test_nobody_is_named_where_all_are_equal(cluster: Cluster, tmp_path: Path) -> None:
    rows = pair_maps(cluster, tmp_path / "equal", "pair-map")
    assert len(rows) == 3
    assert [row["slow"] for row in rows if "latency" not in row["pattern"]] == [[], []]
