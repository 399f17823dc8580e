"""Programs that failed, or ended at once: what was traced says little of them."""

from __future__ import annotations

import polars as pl

from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.present.wording import count

AT_ONCE_S = 0.1
CALLS_MAX = 10
"""A program with more calls of a rank did something."""


def failed_start(program: Program) -> str:
    """One sentence, if the program failed, or came to its end before it did anything; else ''."""
    exit_code = program.trace.exit_code
    after = f"{format_time(program.elapsed_s)} after MPI_Init"
    if exit_code:
        return (
            f"The program failed (exit code {exit_code}), {after}: its output says why, and what "
            "follows is of a run that did not do its work."
        )
    calls = program.calls.group_by("rank").agg(pl.col("count").sum())["count"]
    most = int(max(calls, default=0))
    if program.is_timed and program.elapsed_s < AT_ONCE_S and most < CALLS_MAX:
        return (
            f"The program ended at once, {after} with {count(most, 'call')} of MPI on a rank: does "
            "it have its input? Its output may say."
        )
    return ""
