# SPDX-License-Identifier: Apache-2.0
"""A run of multicasts on a simulated machine, in the same store as what is measured."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nhalf.errors import InputError
from nhalf.machines.machine import Machine
from nhalf.simulate.multicast import PATTERN, costs, multicast_subject
from nhalf.store.run import Run
from nhalf.study.environment import environment
from nhalf.study.plan import Block, Plan
from nhalf.study.resolve import check_blocks, resolve
from nhalf.study.session import Prepared, default_folder

TIMEOUT_S = 120.0
"""How long one point may take: 4096 nodes take seconds."""


def nodes_of(machine: Machine) -> int:
    """The nodes that a multicast can have; raises InputError where it cannot be simulated."""
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
    subject = multicast_subject(machine, given)
    # What a multicast costs is in the command of the subject, not in the options of a transport.
    plan = Plan(
        transports=["simulated"],
        mpi=[machine.name],
        blocks=[msgspec.structs.replace(block, launches=1) for block in blocks],
        launches=1,
        budget_s=0.0,
        precision=0.01,
        options="",
        seed=1,
        timeout_s=TIMEOUT_S,
        study=study,
    )
    check_blocks(plan)
    plan = resolve(plan, [subject])
    known = costs(machine, given)
    description = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "environment": {
            **environment(),
            "simulated machine": machine.title or machine.name,
            "costs": known.text,
            "assumed": "; ".join(known.assumed),
        },
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title},
    }
    return Prepared(Run.create(out or default_folder(), description), plan, [subject], {})
