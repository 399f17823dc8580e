"""Simulated messages share what they pass, and nothing else: against rates that must come out."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nhalf.machines.machine import FittedModel, Machine, Network, Node, Segment
from nhalf.machines.machine_file import write
from nhalf.machines.topology import Crossbar
from tests.patience import patience_s

RATE_Bps = 1e8
SIZE_BYTES = 1 << 20
LINK = 2.5
"""How many messages fill a link, when each goes as fast as it can."""

Rates = Callable[..., dict[int, float]]


def machine(memory_Bps: float | None, near_Bps: float, far_Bps: float) -> Machine:
    """Two nodes of eight ranks; a message takes 1 us before its first byte."""

    def curve(placement: str, rate_Bps: float) -> FittedModel:
        segment = Segment(from_bytes=0, to_bytes=1 << 30, t0_s=1e-6, r_inf_Bps=rate_Bps)
        return FittedModel(
            transport="mpi",
            mpi="none",
            pattern="pingpong",
            ranks=2,
            placement=placement,
            segments=(segment,),
        )

    return Machine(
        name="two-nodes",
        node=Node(ranks=8, memory_Bps=memory_Bps),
        network=Network(topology=Crossbar(2), bandwidth_Bps=LINK * RATE_Bps),
        models=(curve("same-node", near_Bps), curve("other-node", far_Bps)),
    )


def simulate(of: Machine, folder: Path, pattern: str, placement: str) -> list[dict[str, Any]]:
    """The points of a pattern of eight ranks."""
    file = folder / "machine.toml"
    write(of, file)
    command = [
        sys.executable,
        "-m",
        "nhalf",
        "predict",
        "--engine",
        "simgrid",
        "--machine",
        str(file),
        "--json",
    ]
    command += ["--pattern", pattern, "--ranks", "8", "--placement", placement]
    command += ["--bytes", str(SIZE_BYTES), "--out", str(folder / "run")]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=patience_s(300)
    )
    assert done.returncode == 0, done.stderr
    points: list[dict[str, Any]] = msgspec.json.decode(done.stdout)["points"]
    return points


@pytest.fixture
def rates(tmp_path: Path, simulator: None) -> Rates:
    """Bytes per second of all pairs together, by the number of pairs."""

    def simulated(placement: str, of: Machine) -> dict[int, float]:
        points = simulate(of, tmp_path, "pairs-bandwidth", placement)
        return {
            (pairs := int(point["axes"]["pairs"])): pairs * SIZE_BYTES / point["median_s"]
            for point in points
        }

    return simulated


def expected(together_Bps: float, each_Bps: float = RATE_Bps) -> Any:
    """Each pair its own rate, until all have filled what they share."""
    wanted = {pairs: min(pairs * each_Bps, together_Bps) for pairs in (1, 2, 4)}
    return pytest.approx(wanted, rel=1e-3)


def test_what_nothing_is_known_to_narrow_is_not_shared(rates: Rates) -> None:
    assert rates("1x8", machine(None, RATE_Bps, RATE_Bps)) == expected(math.inf)


def test_a_memory_is_filled_before_it_is_shared(rates: Rates) -> None:
    of = machine(LINK * RATE_Bps, RATE_Bps, RATE_Bps)
    assert rates("1x8", of) == expected(LINK * RATE_Bps)


@pytest.mark.parametrize("each_Bps", [RATE_Bps, RATE_Bps / 10])
@pytest.mark.sampled(1)
def test_a_link_is_filled_before_it_is_shared(rates: Rates, each_Bps: float) -> None:
    of = machine(None, RATE_Bps, each_Bps)
    assert rates("2x4", of) == expected(LINK * RATE_Bps, each_Bps)


@pytest.mark.usefixtures("rates")
def test_a_rank_moves_no_more_with_several_messages_than_with_one(tmp_path: Path) -> None:
    two_nodes = machine(None, RATE_Bps, RATE_Bps)
    network = Network(topology=Crossbar(8), bandwidth_Bps=100 * RATE_Bps)
    eight = msgspec.structs.replace(two_nodes, node=Node(ranks=1), network=network)
    (point,) = simulate(eight, tmp_path, "many-to-many", "8x1")
    assert point["median_s"] == pytest.approx(7 * SIZE_BYTES / RATE_Bps, rel=1e-3)
