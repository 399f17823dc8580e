# SPDX-License-Identifier: Apache-2.0
"""What each kernel takes as it is executed: its instructions one by one on a described core."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.processes import run
from nhalf.machines.processor import Processor
from nhalf.node.ladder.builds import Build
from nhalf.node.ladder.decoded import decoded
from nhalf.node.ladder.listing import instructions_of
from nhalf.node.ladder.scheduled import trace_cycles
from nhalf.node.ladder.tracing import executed, recording
from nhalf.node.livermore.corpus import FOLDER

COMPILE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 30.0


def executed_cycles(
    build: Build, listings: Mapping[int, str], processor: Processor
) -> Iterator[tuple[int, float]]:
    """Each kernel by number, and cycles of an iteration of its innermost loops.

    `listings` are those of all kernels. Raises FailedError where they cannot be assembled or run.
    """
    with tempfile.TemporaryDirectory(prefix="nhalf-") as name:
        folder = Path(name)
        program = _assembled(build, listings, folder)
        for number, text in listings.items():
            words = [str(program), str(number), "0", "1", "0", str(folder / "records")]
            outcome = run(words, RUN_TIMEOUT_S)
            if not outcome.succeeded:
                raise FailedError(f"kernel {number} cannot be followed: {outcome.reason}")
            said = json.loads(outcome.stdout.splitlines()[-1])
            trace = list(executed((folder / "records").read_bytes()))
            what = decoded(instructions_of(text), processor)
            iterations = said["iterations"] * said["passes"]
            yield number, trace_cycles(trace, what, processor) / iterations


def _assembled(build: Build, listings: Mapping[int, str], folder: Path) -> Path:
    """A program of all kernels that records each instruction."""
    for number, text in listings.items():
        (folder / f"kernel_{number:02d}.s").write_text(recording(text), "utf-8")
    program = folder / "driver"
    source = native_files.include_folder() / FOLDER / "driver.c"
    kernels = [str(folder / f"kernel_{number:02d}.s") for number in sorted(listings)]
    words = [build.compiler, "-O1", "-DNHALF_TRACE", "-std=gnu11", str(source), *kernels, "-lm"]
    outcome = run([*words, "-o", str(program)], COMPILE_TIMEOUT_S)
    if not outcome.succeeded:
        raise FailedError(f"the listings ({build.title}) cannot be assembled: {outcome.reason}")
    return program
