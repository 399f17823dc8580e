"""Transport tcp between two hosts: over their link, whoever else knocks at its ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.patience import duration

from .conftest import NHALF, Cluster, Journal
from .test_rates import passed_bytes

pytestmark = pytest.mark.slow

PORT = 45_700
LAUNCHES = 2
STRANGER = """
import os, socket, sys
refused = 0
while os.path.exists(sys.argv[1]):
    for host in sys.argv[3:]:
        for rank in range(2):
            try:
                with socket.create_connection((host, int(sys.argv[2]) + rank), 0.2) as knocking:
                    knocking.settimeout(2)
                    knocking.sendall(os.urandom(32))
                    if knocking.recv(1):
                        sys.exit("was answered")
                    refused += 1
            except OSError:
                pass
print(refused)
"""
"""Connects to where ranks listen and greets them with another token than theirs."""


@pytest.mark.full
def test_ranks_of_two_hosts_meet_among_strangers(cluster: Cluster, tmp_path: Path) -> None:
    addresses = {node["node"]: node["address"] for node in cluster.status()["nodes"]}
    goes_on, script = tmp_path / "goes-on", tmp_path / "stranger.py"
    goes_on.touch()
    script.write_text(STRANGER)
    words = [NHALF[0], str(script), str(goes_on), str(PORT), addresses["n1"], addresses["n2"]]
    stranger = cluster.start(words, node="n3")
    try:
        before = passed_bytes(cluster, "n1")
        out = tmp_path / "run"
        command = [*NHALF, "run", "--transport", "tcp", "--pattern", "stream", "--bytes", "1M"]
        command += ["--placement", "2x1", "--launcher", "srun", "--mpi", "mpich"]
        command += ["--launches", str(LAUNCHES), "--budget", duration(3)]
        command += ["--setting", f"fixed: tcp.port={PORT}", "--out", str(out)]
        outcome = cluster.run(*command)
        assert outcome.returncode == 0, outcome.stderr
        passed = passed_bytes(cluster, "n1") - before
    finally:
        goes_on.unlink()
        said, complaint = stranger.communicate(timeout=60)
    assert (stranger.returncode, complaint) == (0, "")
    journal = Journal(out / "journal.jsonl")
    launches = journal.events("launch")
    assert {launch["subject"] for launch in launches} == {"tcp", "tcp+fixed"}
    assert len(launches) >= 2 * LAUNCHES
    for launch in launches:
        assert [rank["host"] for rank in launch["placement"]] == ["n1", "n2"]
        for rank in launch["placement"]:
            assert set(rank["addresses"]) == {addresses[rank["host"]]}
    points = journal.events("point")
    assert all(point["verified"] for point in points)
    measured = sum(
        len(point["samples_s"]) * point["batch"] * point["bytes_per_time"] for point in points
    )
    assert 0 < measured < passed
    print(f"{said.strip()} strangers were refused")
