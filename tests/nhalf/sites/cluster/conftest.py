"""A lab of four nodes for the tests of a file, and nhalf inside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nhalf.sites.lab.layout import HEAD
from tests.named_labs import remove_labs_of_killed_tests, unused_lab_name
from tests.patience import patience_s

NHALF = (sys.executable, "-m", "nhalf")
PATIENCE_S = 300.0
"""Longer than anything here takes on a quiet machine."""


@dataclass(frozen=True)
class Cluster:
    """A lab that is up."""

    name: str

    def lab(self, *words: str) -> str:
        """What `nhalf lab` has to say."""
        return nhalf("lab", *words[:1], "--name", self.name, *words[1:]).stdout

    def status(self) -> dict[str, Any]:
        """Nodes, links and jobs now."""
        found: dict[str, Any] = json.loads(self.lab("status", "--json"))
        return found

    def start(self, command: Sequence[str], node: str = HEAD) -> subprocess.Popen[str]:
        """A command on the head, or on a node, in the background."""
        words = [*NHALF, "lab", "exec", "--name", self.name, "--node", node, "--", *command]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command on the head, to its end."""
        process = self.start(command)
        stdout, stderr = process.communicate(timeout=patience_s(PATIENCE_S))
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def nhalf(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of nhalf, to its end."""
    return subprocess.run(
        [*NHALF, *words],
        capture_output=True,
        text=True,
        timeout=patience_s(PATIENCE_S),
        check=False,
    )


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Four nodes with links of 1 Gbit/s."""
    if os.geteuid() != 0:
        pytest.skip("a lab needs the superuser")
    remove_labs_of_killed_tests()
    name = unused_lab_name()
    up = nhalf("lab", "up", "--nodes", "4", "--rate", "1gbit", "--name", name, "--no-install")
    if up.returncode == 3:
        pytest.skip(f"no lab here: {up.stderr.strip()}")
    try:
        assert up.returncode == 0, up.stderr
        yield Cluster(name)
    finally:
        down = nhalf("lab", "down", "--name", name)
        assert down.returncode == 0, down.stderr


@dataclass(frozen=True)
class Journal:
    """What a run wrote so far."""

    path: Path

    def all_events(self) -> list[dict[str, Any]]:
        """What was written so far; a line that is still being written is passed over."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of a kind."""
        return [event for event in self.all_events() if event["event"] == kind]

    def points(self) -> list[tuple[Any, ...]]:
        """Every point by what identifies it."""
        keys = ("subject", "launch", "pattern", "ranks", "placement", "axes", "bytes")
        return [tuple(event[key] for key in keys) for event in self.events("point")]

    def points_of_launch(self) -> int:
        """The number of points since the latest launch began."""
        latest_first = [event["event"] for event in reversed(self.all_events())]
        return latest_first[: latest_first.index("launch")].count("point")
