"""Simulated machines that are asked point by point."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from nhalf.machines.machine import Machine
from nhalf.measure.simulate.subject import site_of, smpi_subject
from nhalf.sites.hosts import Host
from nhalf.sites.site import Site
from tests.patience import patience_s

TIMEOUT_S = 120

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def ask(simulator: None) -> Ask:
    """Asks a machine for points, each a line of the probe without its number: the records.

    `nodes` names the nodes, by number, that ranks fill one by one.
    """

    def asked(
        machine: Machine,
        lines: Sequence[str],
        ranks: int = 2,
        placement: str = "cores",
        collectives: str = "mpich",
        nodes: Sequence[int] = (),
    ) -> list[dict[str, Any]]:
        subject = smpi_subject(machine, site_of(machine, ranks), collectives)
        if nodes:
            hosts = tuple(Host(f"node-{number}", 1) for number in nodes)
            subject = dataclasses.replace(subject, site=Site(hosts))
        command, variables = subject.launch(ranks, placement, "")
        numbered = [f"id={place} {line}" for place, line in enumerate(lines)]
        done = subprocess.run(
            command,
            input="\n".join([*numbered, "end", ""]),
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
            timeout=patience_s(TIMEOUT_S),
        )
        assert done.stderr == ""
        records = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
        assert records[0]["nhalf"] == "launch"
        assert records[0]["clock"]["name"] == "virtual"
        assert records[-1] == {"nhalf": "end"}
        return records[1:-1]

    return asked
