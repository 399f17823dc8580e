# SPDX-License-Identifier: Apache-2.0
"""A run of multicasts on a simulated machine, in the same store as what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.machines.machine import Machine
from nhalf.measure.loop.session import Prepared
from nhalf.measure.plan.plan import Block
from nhalf.measure.simulate import session
from nhalf.measure.simulate.multicast import PATTERN, costs


def nodes_of(machine: Machine) -> int:
    """The nodes that a multicast can have; raises InputError if it cannot be simulated."""
    costs(machine)
    assert machine.network is not None
    return machine.network.topology.nodes


def is_multicast(blocks: list[Block]) -> bool:
    """Whether all that is asked for are multicasts."""
    return all(block.patterns == [PATTERN] for block in blocks)


def begin(
    machine: Machine,
    study: str,
    blocks: list[Block],
    out: Path | None,
    given: Mapping[str, str] | None = None,
) -> Prepared:
    """Check what is asked for against the machine and make the run directory.

    `given` are costs as text. The simulator is exact, so there is one launch and one sample of
    each point. Raises InputError for more ranks than nodes and for what cannot be read,
    MissingError without the simulator.
    """
    nodes = nodes_of(machine)
    for block in blocks:
        if max(block.ranks, default=0) > nodes:
            raise InputError(
                f"{machine.name} has {nodes} nodes, one for each rank of a multicast",
                f"give --ranks {nodes} or less",
            )
    how = session.Simulation(multicast=True, costs=dict(given or {}))
    return session.begin(machine, how, study, blocks, out)
