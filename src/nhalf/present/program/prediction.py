# SPDX-License-Identifier: Apache-2.0
"""A predicted run time in words: the time, what it consists of, and how wrong it may be."""

from __future__ import annotations

from nhalf.base.numbers import fixed, percent
from nhalf.base.units import format_time
from nhalf.decide.program.predict import COUNTS, SIMGRID, TIMELINE, ProgramPrediction
from nhalf.present.wording import count

HOW = {
    COUNTS: "its calls by number",
    TIMELINE: "its timeline replayed",
    SIMGRID: "its timeline simulated by SimGrid",
}


def prediction_lines(prediction: ProgramPrediction) -> list[str]:
    """Describe a prediction in lines: time, composition, error and caveats."""
    parts = ", ".join(f"{name} {percent(share)}" for name, share in prediction.time_share.items())
    where = prediction.traced_on or "the machine it was traced on, with the trace's own calls"
    how = HOW[prediction.method]
    traced = f"{format_time(prediction.measured_s)}{_launches(prediction)}"
    lines = [
        f"{prediction.program} on {prediction.machine}: {format_time(prediction.time_s)} "
        f"({format_time(prediction.low_s)} to {format_time(prediction.high_s)}); traced: {traced}",
        f"  {parts}: {prediction.dominated_by} dominates",
        f"  error {prediction.error * 100:+.1f} % on {where} ({how})",
    ]
    if len(prediction.computing_ratio) > 1:
        ratios = ", ".join(
            f"{name} {fixed(ratio, 2)}" for name, ratio in prediction.computing_ratio.items()
        )
        lines.append(f"  computing time there relative to here, by the cores: {ratios}")
    if prediction.launches == 1:
        lines.append(
            "  the interval omits launch-to-launch variation; trace again and pass all traces"
        )
    if prediction.method == COUNTS:
        lines.append("  more exact with nhalf trace --detail timeline")
    if prediction.forced:
        lines.append(
            f"  {count(prediction.forced, 'send')} larger than the machine's rendezvous threshold "
            "would deadlock there: buffers are assumed"
        )
    return lines


def _launches(prediction: ProgramPrediction) -> str:
    return f", the median of {prediction.launches} launches" if prediction.launches > 1 else ""
