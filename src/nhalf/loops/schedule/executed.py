"""Cycles of a program from its executed instructions, one by one on a described core."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.listing.decoded import decoded
from nhalf.loops.listing.library_costs import call_costs, called_functions
from nhalf.loops.listing.listing import instructions_of
from nhalf.loops.schedule.trace_cycles import trace_cycles
from nhalf.loops.schedule.tracing import executed, recording
from nhalf.machines.processor import Processor

ASSEMBLE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Followed:
    """The report that a program printed, and the fewest cycles of each of its passes."""

    report: Mapping[str, Any]
    pass_cycles: float


def assembled(
    build: Build,
    listings: Mapping[str, str],
    folder: Path,
    arguments: Sequence[str] = (),
    functions: Collection[str] | None = None,
) -> Path:
    """Build a program of listings, by file name, whose functions record their instructions.

    Only `functions` record, by default all. `arguments` are further ones for the compiler, such as
    other sources. Raises FailedError if it cannot be assembled.
    """
    files = []
    for name, text in listings.items():
        files.append(folder / f"{name}.s")
        files[-1].write_text(recording(text, functions), "utf-8")
    program = folder / "followed"
    command = [build.compiler, "-O1", "-std=gnu11", *arguments, *map(str, files), "-lm"]
    outcome = run([*command, "-o", str(program)], ASSEMBLE_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"the listings ({build.title}) cannot be assembled: {outcome.reason}")
    return program


def followed(command: Sequence[str], text: str, processor: Processor, folder: Path) -> Followed:
    """Run a program that writes the records of a listing to the file that is its last argument.

    Raises FailedError if it fails, or records nothing.
    """
    records = folder / "records"
    outcome = run([*command, str(records)], RUN_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(outcome.reason)
    report = json.loads(outcome.stdout.splitlines()[-1])
    trace = list(executed(records.read_bytes()))
    instructions = instructions_of(text)
    decoded_instructions = decoded(
        instructions, processor, call_costs(called_functions(instructions))
    )
    cycles = trace_cycles(trace, decoded_instructions, processor)
    return Followed(report, cycles / report["passes"])
