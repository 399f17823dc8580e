"""A run of multicasts on a simulated machine, stored like measurements."""

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
    """Return the number of nodes of a multicast; raises InputError if it cannot be simulated."""
    costs(machine)
    assert machine.network is not None
    return machine.network.topology.nodes


def is_multicast(blocks: list[Block]) -> bool:
    """Whether only multicasts are requested."""
    return all(block.patterns == [PATTERN] for block in blocks)


def begin(
    machine: Machine,
    study: str,
    blocks: list[Block],
    out: Path | None,
    given_costs: Mapping[str, str] | None = None,
) -> Prepared:
    """Check the request against the machine and make the run directory.

    `given_costs` are texts. The simulator is exact, so there is one launch and one sample of each
    point. Raises InputError for more ranks than nodes and for invalid costs, MissingError without
    the simulator.
    """
    nodes = nodes_of(machine)
    for block in blocks:
        if max(block.ranks, default=0) > nodes:
            raise InputError(
                f"{machine.name} has {nodes} nodes, one for each rank of a multicast",
                f"give --ranks {nodes} or less",
            )
    how = session.Simulation(multicast=True, costs=dict(given_costs or {}))
    return session.begin(machine, how, study, blocks, out)
