# SPDX-License-Identifier: Apache-2.0
"""What a program takes as it is executed: its instructions one by one on a described core."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.machines.processor import Processor
from nhalf.node.ladder.builds import Build
from nhalf.node.ladder.costs import call_costs, called
from nhalf.node.ladder.decoded import decoded
from nhalf.node.ladder.listing import instructions_of
from nhalf.node.ladder.scheduled import trace_cycles
from nhalf.node.ladder.tracing import executed, recording

ASSEMBLE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Followed:
    """What a program said of itself, and the cycles that each of its passes takes at least."""

    said: Mapping[str, Any]
    pass_cycles: float


def assembled(
    build: Build,
    listings: Mapping[str, str],
    folder: Path,
    words: Sequence[str] = (),
    functions: Collection[str] | None = None,
) -> Path:
    """A program of listings, by file name, that record their instructions, and of other sources.

    Of each listing only these functions record, by default all. `words` are further ones of the
    compiler. Raises FailedError if it cannot be assembled.
    """
    files = []
    for name, text in listings.items():
        files.append(folder / f"{name}.s")
        files[-1].write_text(recording(text, functions), "utf-8")
    program = folder / "followed"
    command = [build.compiler, "-O1", "-std=gnu11", *words, *map(str, files), "-lm"]
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
    said = json.loads(outcome.stdout.splitlines()[-1])
    trace = list(executed(records.read_bytes()))
    instructions = instructions_of(text)
    what = decoded(instructions, processor, call_costs(called(instructions)))
    cycles = trace_cycles(trace, what, processor)
    return Followed(said, cycles / said["passes"])
