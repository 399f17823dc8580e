# SPDX-License-Identifier: Apache-2.0
"""A link of half the rate is named by the pair map; where all are equal, nobody is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import NHALF, Cluster

pytestmark = pytest.mark.slow


def pair_maps(cluster: Cluster, out: Path) -> list[dict[str, Any]]:
    """The rows of a pair map of all hosts."""
    command = [*NHALF, "run", "pair-map", "--launcher", "srun", "--placement", "every-host"]
    command += ["--mpi", "mpich", "--budget", "10s", "--out", str(out), "--json"]
    outcome = cluster.run(*command)
    assert outcome.returncode == 0, outcome.stderr
    rows: list[dict[str, Any]] = json.loads(outcome.stdout)["results"]["pair_map"]["rows"]
    return rows


def test_a_slow_link_has_a_name(cluster: Cluster, tmp_path: Path) -> None:
    cluster.lab("link", "n3", "--rate", "500mbit")
    try:
        rows = pair_maps(cluster, tmp_path / "half")
    finally:
        cluster.lab("link", "n3", "--rate", "1gbit")
    bandwidth = next(row for row in rows if row["pattern"] == "pair-map-bandwidth")
    assert bandwidth["level"] == "hosts"
    assert [(one["kind"], one["members"]) for one in bandwidth["slow"]] == [("node", ["n3"])]
    assert 1.5 < bandwidth["slow"][0]["ratio"] < 2.5


def test_nobody_is_named_where_all_are_equal(cluster: Cluster, tmp_path: Path) -> None:
    rows = pair_maps(cluster, tmp_path / "equal")
    assert len(rows) == 3
    assert [row["slow"] for row in rows] == [[], [], []]
