# SPDX-License-Identifier: Apache-2.0
"""The rate of the links comes out of measuring, fitting and reading the machine file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nhalf.sites.lab.shaping import PAYLOAD_SHARE

from .conftest import NHALF, Cluster, nhalf

pytestmark = pytest.mark.slow

TOLERANCE = 0.08
ATTEMPTS = 3


def fitted_Bps(cluster: Cluster, out: Path) -> float:
    """The asymptotic rate between two hosts, of streams over MPI."""
    command = [*NHALF, "run", "--pattern", "stream", "--bytes", "64K:4M", "--placement", "2x1"]
    command += ["--mpi", "mpich", "--launcher", "srun", "--launches", "2", "--budget", "8s"]
    outcome = cluster.run(*command, "--quiet", "--out", str(out))
    assert outcome.returncode == 0, outcome.stderr
    fit = nhalf("fit", str(out), "--json")
    assert fit.returncode == 0, fit.stderr
    (model,) = json.loads(fit.stdout)["models"]
    return float(model["segments"][-1]["r_inf_Bps"])


@pytest.mark.parametrize("megabit", [200, 500, 1000])
def test_fitted_rate(cluster: Cluster, tmp_path: Path, megabit: int) -> None:
    """A busy machine lets tokens go by: one of a few attempts must be right, none too fast."""
    expected_Bps = megabit * 125_000 * PAYLOAD_SHARE
    for node in ("n1", "n2"):
        cluster.lab("link", node, "--rate", f"{megabit}mbit")
    try:
        for attempt in range(ATTEMPTS):
            ratio = fitted_Bps(cluster, tmp_path / str(attempt)) / expected_Bps
            assert ratio < 1 + TOLERANCE
            if ratio > 1 - TOLERANCE:
                return
        pytest.fail(f"{ratio:.3f} of the rate after {ATTEMPTS} attempts")
    finally:
        for node in ("n1", "n2"):
            cluster.lab("link", node, "--rate", "1gbit")
