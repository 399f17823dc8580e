# SPDX-License-Identifier: Apache-2.0
"""Where a put of less than a cache line takes longer than one of a whole line."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.puts import LINE_BYTES, PartialLine, partial_lines
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, weight


class PartialLines(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        by_library: dict[str, list[PartialLine]] = {}
        for case in partial_lines(facts):
            by_library.setdefault(case.series, []).append(case)
        for cases in by_library.values():
            yield _finding(cases)


def _finding(cases: list[PartialLine]) -> Finding:
    """The pattern that suffers most speaks for its library."""
    worst, *further = cases
    pattern = ", ".join(filter(None, (worst.pattern, worst.axes)))
    also = f"; so do {count(len(further), 'further pattern')}" if len(further) > 1 else ""
    also = f"; so does {further[0].pattern}" if len(further) == 1 else also
    return Finding(
        f"{worst.series}: a {pattern} of {format_size(worst.size_bytes)} takes "
        f"{format_time(worst.partial.median)}, one of a whole cache line ({LINE_BYTES} B) "
        f"{format_time(worst.line.median)}: less than a line costs {times(worst.ratio.median)} as "
        f"much ({between(worst.ratio)}){also}.",
        importance=weight(worst.ratio.median, 42, 68),
        kind="partial-line",
        label="Less than a line",
        remedy=f"Pad short puts to whole lines of {LINE_BYTES} B here.",
        interval=worst.ratio,
        mpi=worst.mpi,
        pattern=worst.pattern,
        size_bytes=worst.size_bytes,
    )
