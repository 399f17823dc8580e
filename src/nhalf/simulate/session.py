# SPDX-License-Identifier: Apache-2.0
"""A run on a simulated machine, in the same store as what is measured."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nhalf.simulate.subject import SimulatedMachine
from nhalf.store.run import Run
from nhalf.study.environment import environment
from nhalf.study.plan import Block, Plan
from nhalf.study.resolve import check_blocks, resolve
from nhalf.study.session import Prepared, default_folder

TIMEOUT_S = 600.0
"""How long one point may take: an exchange among a thousand ranks is a million messages."""


def begin(
    subject: SimulatedMachine,
    study: str,
    blocks: list[Block],
    out: Path | None,
    facts: Mapping[str, str],
) -> Prepared:
    """Check what is asked for and make the run directory.

    The simulator is exact, so there is one launch of each point. `facts` are added to what the
    report says of the environment. Raises InputError for what cannot be measured.
    """
    plan = Plan(
        transports=[subject.transport],
        mpi=[subject.mpi],
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
    description = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "environment": {**environment(), "simulated machine": subject.title, **facts},
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title},
    }
    return Prepared(Run.create(out or default_folder(), description), plan, [subject], {})
