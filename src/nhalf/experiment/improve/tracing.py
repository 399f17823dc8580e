"""Trace a launch once, so that candidates can be bounded and ordered."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import NhalfError
from nhalf.experiment.improve.situation import Situation, with_trace
from nhalf.facts.program.program import Program
from nhalf.measure.launches.timed import run_timed
from nhalf.measure.traced.preloaded import tracing_libraries
from nhalf.measure.traced.tables import is_trace
from nhalf.mpi.launch_settings import LaunchCommand

CALLS_MAX = "NHALF_TRACE_CALLS_MAX"
"""The tracer's limit on the calls of a thread in a timeline."""
TIMELINE_CALLS = 100_000
"""More calls of a thread are only counted: a timeline of many hours would fill the disk."""
NOT_TRACED = "The program is not traced, so nothing bounds what a candidate can save"
NO_CALL = "no call of MPI was traced"


def traced_or_given(
    program: Program | None,
    situation: Situation,
    folder: Path,
    limit_s: float,
    printed_s: float | None,
) -> tuple[Situation, str]:
    """The situation with the program that is given, or else with a trace of it; and a remark."""
    if program is not None:
        return with_trace(situation, program, printed_s), ""
    return traced(situation, folder, limit_s, printed_s)


def traced(
    situation: Situation, folder: Path, limit_s: float, printed_s: float | None = None
) -> tuple[Situation, str]:
    """The situation with a trace of the program, and a remark if there is none.

    `printed_s` is the time that the program printed, None if the whole launch counts.
    """
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
        return situation, _because(launched.problem or NO_CALL)
    try:
        program = Program.open(trace)
    except NhalfError as error:
        return situation, _because(str(error))
    if program.calls.is_empty():
        return situation, _because(NO_CALL)
    return with_trace(situation, program, printed_s), ""


def _because(reason: str) -> str:
    return f"{NOT_TRACED}: {reason.removesuffix('.')}{'' if reason.endswith('?') else '.'}"
