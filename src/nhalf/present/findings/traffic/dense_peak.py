# SPDX-License-Identifier: Apache-2.0
"""Where dense traffic is fastest with messages smaller than the largest measured."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import span, times
from nhalf.base.units import format_rate, format_size
from nhalf.facts.dense_peaks import Peak, peaks_below_largest
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class DensePeak(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        by_setting: dict[tuple[str, int], list[Peak]] = {}
        for peak in sorted(peaks_below_largest(facts), key=lambda peak: -peak.ratio.median):
            by_setting.setdefault((peak.series, peak.ranks), []).append(peak)
        for peaks in by_setting.values():
            yield _finding(peaks)


def _finding(peaks: list[Peak]) -> Finding:
    """The pattern that loses most speaks for its library and number of ranks."""
    worst, *further = peaks
    ratio, rate = worst.ratio, worst.peak_Bps
    has_interval = ratio.low < ratio.high
    ends = f" (interval {span(rate.low, rate.high, format_rate)})" if has_interval else ""
    also = listed(
        [
            f"{peak.pattern} ({format_size(peak.size_bytes)}, {times(peak.ratio.median)})"
            for peak in further
        ]
    )
    return Finding(
        f"{worst.series}, {worst.ranks} ranks: {worst.pattern} is fastest with messages of "
        f"{format_size(worst.size_bytes)}: {format_rate(rate.median)} per process{ends}, "
        f"{times(ratio.median)} the {format_rate(worst.largest_Bps.median)} with "
        f"{format_size(worst.largest_bytes)}"
        + (f" ({between(ratio)})" if has_interval else "")
        + (f"; likewise {also}." if also else "."),
        importance=weight(ratio.median, 42, 68),
        kind="dense-peak",
        label="Fastest below the largest size",
        interval=ratio,
        mpi=worst.mpi,
        pattern=worst.pattern,
        size_bytes=worst.size_bytes,
    )
