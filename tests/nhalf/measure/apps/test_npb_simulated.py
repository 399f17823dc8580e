"""Kernels on machines that are not here: they compute, verify and send what they do anywhere."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import MissingError
from nhalf.machines import catalogue
from nhalf.measure.simulate.subject import SmpiMachine, application_subject, computing, site_of
from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import Traffic, traffic_of
from tests.patience import patience_s

RANKS = 4


def test_the_factor_is_what_smpi_is_told() -> None:
    """Our simulated hosts have 1e9 flops: twice as many for each second take twice as long."""
    for times in (1.0, 2.5, 1e-3):
        told = computing(times)
        assert float(str(told["smpi/host-speed"]).rstrip("f")) == times * 1e9
        assert told["smpi/simulate-computation"] == "yes"


def simulated(computes: float) -> SmpiMachine:
    machine = catalogue.machine("sunfire-link")
    try:
        return application_subject(machine, site_of(machine, RANKS), "npb", computes)
    except MissingError as error:
        pytest.skip(str(error))


def ran(subject: SmpiMachine, *more: str) -> tuple[float, float]:
    """The simulated time of CG in class S, and the share of it in communication."""
    command, variables = subject.launch(RANKS, "cores", "")
    done = subprocess.run(
        [command[0], *more, *command[1:]],
        input="id=1 pattern=npb-cg samples_max=1 axis.class=S\nend\n",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=patience_s(120),
        check=True,
    )
    said = msgspec.json.decode(done.stdout.splitlines()[1])
    assert said["verified"]
    return said["samples_s"][0], said["values"]["communication_share"]


@pytest.mark.full
@pytest.mark.slow
def test_every_rank_sends_what_it_does_on_a_machine_that_is_here(tmp_path: Path) -> None:
    """SMPI's own trace: one line for each call, whose data are counted in doubles."""
    listed = tmp_path / "trace"
    ran(simulated(1.0), "-trace-ti", "-trace-file", str(listed))
    for rank, path in enumerate(listed.read_text().split()):
        found: Traffic = Counter()
        for line in Path(path).read_text().splitlines():
            _, call, *words = line.split()
            if call == "send":
                found["send", int(words[0]), 8 * int(words[2])] += 1
        assert found == traffic_of(problem("cg", "S"), rank, RANKS), f"rank {rank}"


@pytest.mark.full
@pytest.mark.slow
def test_computing_takes_as_many_times_as_long_as_is_said() -> None:
    """Without any, messages are all; with a thousand times as much, they are next to nothing."""
    messages_s, share = ran(simulated(1e-9))
    assert share > 0.99
    long_s, share = ran(simulated(1000.0))
    assert long_s > 10 * messages_s
    assert share < 0.5
