# SPDX-License-Identifier: Apache-2.0
"""What functions of the C library take here, since no listing of a loop shows their instructions.

native/node/livermore/costs.c times calls that do not wait for each other.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Iterable, Mapping

from nhalf.base.compiled import Program, compiled
from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.node.ladder.builds import COMPILERS
from nhalf.node.ladder.listing import Instruction
from nhalf.node.ladder.samples import SAMPLES, SECONDS, taken

RUN_TIMEOUT_S = 30.0
_CALLED = re.compile(r"\*?([A-Za-z_]\w*)(?:@\w+(?:\(%rip\))?)?$")
_known: dict[str, float] = {}
"""Cycles of a call by its name, 0 for functions that are not timed; measured once in a process."""


def called(instructions: Iterable[Instruction]) -> set[str]:
    """The functions that a listing calls by name."""
    targets = (one.operands[0] for one in instructions if _is_call(one))
    return {found[1] for target in targets if (found := _CALLED.match(target))}


def cycles_of_call(one: Instruction, costs: Mapping[str, float]) -> float:
    """What an instruction takes that is a call of one of these; 0 for every other."""
    if not _is_call(one):
        return 0.0
    return max((costs.get(name, 0.0) for name in called([one])), default=0.0)


def _is_call(one: Instruction) -> bool:
    return one.name.startswith("call") and bool(one.operands)


def call_costs(names: Collection[str]) -> dict[str, float]:
    """Cycles of a call that waits for no other, by name, for those that can be timed here."""
    missing = sorted(set(names) - _known.keys())
    if missing:
        _known.update(dict.fromkeys(missing, 0.0) | _measured(missing))
    return {name: _known[name] for name in names if _known[name]}


def _measured(names: Collection[str]) -> dict[str, float]:
    """The functions that the program of costs knows; none if it cannot be made or run."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return {}
    program = Program(
        title="the costs of library functions",
        name="costs",
        folder="costs",
        source="node/livermore/costs.c",
        command=[compiler, "-O1", "-fno-builtin", "-std=gnu11", "-lm"],
        why_not=lambda path: "",
    )
    try:
        outcome = run([str(compiled(program)), str(SAMPLES), str(SECONDS), *names], RUN_TIMEOUT_S)
    except NhalfError:
        return {}
    said = [json.loads(line) for line in outcome.stdout.splitlines() if outcome.succeeded]
    return {one["name"]: taken(one, one["iterations"]).cycles_per_iteration for one in said}
