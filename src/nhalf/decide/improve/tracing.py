# SPDX-License-Identifier: Apache-2.0
"""Trace a launch once, so that candidates can be bounded and ordered."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import NhalfError
from nhalf.decide.improve.situation import Situation, with_trace
from nhalf.measure.launches.timed import run_timed
from nhalf.measure.traced.preloaded import tracing_libraries
from nhalf.measure.traced.tables import is_trace
from nhalf.mpi.launch_settings import LaunchCommand

CALLS_MAX = "NHALF_TRACE_CALLS_MAX"
"""The tracer's limit on the calls of a thread in a timeline."""
TIMELINE_CALLS = 100_000
"""More calls of a thread are only counted: a timeline of many hours would fill the disk."""
NOT_TRACED = "The program is not traced, so nothing bounds what a candidate can save"


def traced(situation: Situation, folder: Path, limit_s: float) -> tuple[Situation, str]:
    """The situation with a trace of the program, and a remark if there is none."""
    launch, trace = situation.launch, folder / "trace"
    with suppress(NhalfError):
        # What has to be compiled once is compiled before the limit begins.
        tracing_libraries(launch.words)
    options = ("--quiet", "--detail", "timeline", "--out", str(trace))
    words = ("-m", "nhalf", "trace", *options, "--", *launch.words)
    environment = {**launch.environment, CALLS_MAX: str(TIMELINE_CALLS)}
    launched = run_timed(
        LaunchCommand(environment, (), (), (), (), sys.executable, words),
        folder / "tracing",
        limit_s,
    )
    if launched.problem or not is_trace(trace):
        return situation, _because(launched.problem or "no call of MPI was traced")
    try:
        with_program = with_trace(situation, trace)
    except NhalfError as error:
        return situation, _because(str(error))
    if with_program.program is None or with_program.program.calls.is_empty():
        return situation, _because("no call of MPI was traced")
    return with_program, ""


def _because(reason: str) -> str:
    return f"{NOT_TRACED}: {reason.removesuffix('.')}{'' if reason.endswith('?') else '.'}"
