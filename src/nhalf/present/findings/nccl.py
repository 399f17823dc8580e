"""Findings on what NCCL takes for its collective operations, and on what these cost beside."""

from collections.abc import Iterator
from itertools import takewhile

from nhalf.base.listing import listed, ranks_text
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.nccl import nccl_curves, nccl_phases
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import exact_size

IMPORTANCE = 42
"""Beside protocol switches, whose cause they may be."""
MOSTLY = 0.5
"""Where the GPU certainly works for a smaller share of the time, launch and wait are the cost."""


class NcclTakes(Finder[Facts]):
    """Algorithm and protocol of NCCL, and the sizes from which on it takes others."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for curve in nccl_curves(facts):
            (_, first), *later = curve.steps
            changes = [f"from {exact_size(size_bytes)} on {title}" for size_bytes, title in later]
            yield Finding.of(
                curve,
                f"{curve.series}: {curve.name} on {ranks_text(curve.ranks)} takes "
                f"{listed([first, *changes])}, as NCCL says.",
                IMPORTANCE,
                "nccl-takes",
                "NCCL takes",
                figure=curve.steps[-1][1],
                size_bytes=curve.steps[-1][0],
            )


class NcclBeside(Finder[Facts]):
    """Operations of which launch and wait are the larger part, and up to which size."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for curve in nccl_phases(facts):
            mostly = takewhile(lambda times: times.device_share.high < MOSTLY, curve.times)
            beside = [] if curve.in_slices else list(mostly)
            if not beside:
                continue
            least, up_to_bytes = beside[0], beside[-1].size_bytes
            works_s, knows_s = least.device_done.median, least.host_knows.median
            all_sizes = len(beside) == len(curve.times)
            where = "at every size" if all_sizes else f"up to {exact_size(up_to_bytes)}"
            yield Finding.of(
                curve,
                f"{curve.series}: {curve.name} on {ranks_text(curve.ranks)} is mostly launch and "
                f"wait {where}: the host knows the end of {exact_size(least.size_bytes)} after "
                f"{format_time(knows_s)}, of which the GPU works {format_time(works_s)}.",
                IMPORTANCE - 1,
                "nccl-beside",
                "Launch and wait",
                figure=format_time(knows_s - works_s),
                size_bytes=up_to_bytes,
            )
