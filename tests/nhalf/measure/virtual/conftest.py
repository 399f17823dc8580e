# SPDX-License-Identifier: Apache-2.0
"""A folder for the programs that several tests compile, and a machine of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest

MACHINE = """
schema = 1
name = "plain"
[node]
ranks = 2
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "same-node"
segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 2e-6, r_inf_Bps = 5e9}]
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "other-node"
segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 9e-6, r_inf_Bps = 1e9}]
[[loggp]]
transport = "mpi"
placement = "other-node"
latency_s = 5e-6
send_overhead_s = 1.5e-6
recv_overhead_s = 2.5e-6
gap_s = 3e-6
"""


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("virtual-programs")


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a machine with LogGP parameters: 2 ranks on a node."""
    path = tmp_path_factory.mktemp("machine") / "plain.toml"
    path.write_text(MACHINE)
    return path
