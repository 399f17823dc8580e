# SPDX-License-Identifier: Apache-2.0
"""A predicted run time in words: the time, what it consists of, and how wrong it may be."""

from __future__ import annotations

from nhalf.base.units import format_time
from nhalf.decide.program.predict import COUNTS, SIMGRID, TIMELINE, ProgramPrediction
from nhalf.present.wording import count, percent

HOW = {
    COUNTS: "its calls by number",
    TIMELINE: "its timeline replayed",
    SIMGRID: "its timeline simulated by SimGrid",
}


def prediction_lines(found: ProgramPrediction) -> list[str]:
    """A line each."""
    parts = ", ".join(f"{name} {percent(share)}" for name, share in found.time_share.items())
    where = found.traced_on or "the machine it was traced on, with the trace's own calls"
    how = HOW[found.method]
    traced = f"{format_time(found.measured_s)}{_launches(found)}"
    lines = [
        f"{found.program} on {found.machine}: {format_time(found.time_s)} "
        f"({format_time(found.low_s)} to {format_time(found.high_s)}); traced: {traced}",
        f"  {parts}: {found.dominated_by} dominates",
        f"  error {found.error * 100:+.1f} % on {where} ({how})",
    ]
    if len(found.computing_ratio) > 1:
        each = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.computing_ratio.items())
        lines.append(f"  computing time there relative to here, by the cores: {each}")
    if found.launches == 1:
        lines.append(
            "  how much launches differ is not in the interval: trace the program again, name all"
        )
    if found.method == COUNTS:
        lines.append("  more exact with nhalf trace --detail timeline")
    if found.forced:
        lines.append(
            f"  {count(found.forced, 'send')} larger than the machine's rendezvous threshold "
            "would deadlock there: buffers are assumed"
        )
    return lines


def _launches(found: ProgramPrediction) -> str:
    return f", the median of {found.launches} launches" if found.launches > 1 else ""
