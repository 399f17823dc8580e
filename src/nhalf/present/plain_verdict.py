"""The verdict of a report that has no libraries to choose from: what comes first, in a sentence."""

from __future__ import annotations

from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview
from nhalf.present.findings import WARNING, findings
from nhalf.present.wording import count, n_half_text

SAID_FIRST = "wrong-data"
"""A kind of finding that stands above every page."""
RUNS = "run-change"


def run_verdict(facts: Facts) -> str:
    """How the runs differ, of a report on several; '' for one."""
    return " ".join(finding.text for finding in findings(facts) if finding.kind == RUNS)


def plain_verdict(facts: Facts) -> str:
    """The first finding, what one library reaches, or that nothing stands out."""
    lines = overview(facts)
    if len(lines) == 1:
        only = lines[0]
        latency = f"{format_time(only.latency_s)} for {format_size(only.latency_bytes)}"
        peak = f"{format_rate(only.peak_Bps)} at {format_size(only.peak_bytes)}"
        return (
            f"{only.series}: {latency}, {peak}; half of that at {n_half_text(only.n_half_bytes)}."
        )
    for finding in findings(facts):
        if finding.importance >= WARNING and finding.kind != SAID_FIRST:
            return finding.text
    points = count(extent(facts).points, "point")
    return f"No difference or cost beyond the stated thresholds in {points}."
