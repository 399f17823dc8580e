"""Cycles of functions of the C library, whose instructions no listing of a loop shows.

native/node/livermore/costs.c times calls that do not wait for each other.
"""

import json
import re
import shutil
from collections.abc import Collection, Iterable, Mapping

from nhalf.base.compiled import CompiledProgram, compiled
from nhalf.base.errors import NhalfError
from nhalf.base.processes import run
from nhalf.loops.builds import COMPILERS
from nhalf.loops.listing.listing import Instruction
from nhalf.loops.samples import SAMPLES, SECONDS, loop_time

RUN_TIMEOUT_S = 30.0
_CALLED = re.compile(r"\*?([A-Za-z_]\w*)(?:@\w+(?:\(%rip\))?)?$")
_cycles_by_function: dict[str, float] = {}
"""Cycles of a call by its name, 0 for functions that are not timed; measured once in a process."""


def called_functions(instructions: Iterable[Instruction]) -> set[str]:
    """The functions that a listing calls by name."""
    targets = (call.operands[0] for call in instructions if _is_call(call))
    return {match[1] for target in targets if (match := _CALLED.match(target))}


def cycles_of_call(instruction: Instruction, costs: Mapping[str, float]) -> float:
    """Cycles of an instruction that calls one of these functions; 0 for every other."""
    if not _is_call(instruction):
        return 0.0
    return max((costs.get(name, 0.0) for name in called_functions([instruction])), default=0.0)


def _is_call(instruction: Instruction) -> bool:
    return instruction.name.startswith("call") and bool(instruction.operands)


def call_costs(names: Collection[str]) -> dict[str, float]:
    """Cycles by name of independent calls, for functions that can be timed here."""
    unmeasured = sorted(set(names) - _cycles_by_function.keys())
    if unmeasured:
        _cycles_by_function.update(dict.fromkeys(unmeasured, 0.0) | _measured(unmeasured))
    return {name: _cycles_by_function[name] for name in names if _cycles_by_function[name]}


def _measured(names: Collection[str]) -> dict[str, float]:
    """Measured cycles by function; empty if the program cannot be compiled or run."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return {}
    program = CompiledProgram(
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
    printed = [json.loads(line) for line in outcome.stdout.splitlines() if outcome.succeeded]
    return {
        samples["name"]: loop_time(samples, samples["iterations"]).cycles_per_iteration
        for samples in printed
    }
